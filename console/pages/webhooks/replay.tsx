import { useId, useState } from 'react';
import { useNow } from '../../client/now.ts';
import { useWrite } from '../../client/queries.ts';
import { zoneName } from '../../client/zone.ts';
import type { Replay, Webhook } from '../../generated/shapes.ts';
import { Button } from '../../parts/button.tsx';
import { inputOfInstant, instantOfInput } from '../../parts/day.ts';
import { Dialog } from '../../parts/dialog.tsx';
import { Field, Input } from '../../parts/field.tsx';
import { pluralize } from '../../parts/text.ts';
import { useToast } from '../../parts/toast.tsx';
import { RadioCards } from '../radio-cards.tsx';

const selections: readonly { value: Replay['select']; label: string; hint: string }[] = [
  { value: 'failed', label: 'Failed events', hint: 'Events without a successful or pending delivery.' },
  {
    value: 'missing',
    label: 'Events never sent',
    hint: 'The endpoint was created later, or its event types have changed.',
  },
  { value: 'all', label: 'All events', hint: 'Including events that the receiver has accepted.' },
];

const minuteMs = 60_000;
const presets: readonly (readonly [label: string, backMs: number])[] = [
  ['Last hour', 60 * minuteMs],
  ['Last 24 hours', 1_440 * minuteMs],
  ['Last 7 days', 10_080 * minuteMs],
];

export interface ReplayWindowProps {
  readonly webhook: Webhook;
  readonly onClose: () => void;
  /** Called with the replay's id; the page then shows its progress. */
  readonly onStarted: (replayId: string) => void;
}

/** Replays a window of events to one endpoint. A dry run has to count them first. */
export function ReplayWindow({ webhook, onClose, onStarted }: ReplayWindowProps) {
  const { toast } = useToast();
  const now = useNow('application');
  // The end of the window is exclusive, so it is set to the next minute.
  const end = Math.floor(now / minuteMs) * minuteMs + minuteMs;
  const [from, setFrom] = useState(() => inputOfInstant(end - 1_440 * minuteMs));
  const [to, setTo] = useState(() => inputOfInstant(end));
  const [select, setSelect] = useState<Replay['select']>('failed');
  const body = { from: instantOfInput(from), to: instantOfInput(to), select, webhookId: webhook.id };
  const requested = JSON.stringify(body);
  const [counted, setCounted] = useState<{ requested: string; matched: number } | null>(null);
  const dryRun = useWrite<Replay>('app/developer_api_webhook_deliveries/replay');
  const run = useWrite<Replay>('app/developer_api_webhook_deliveries/replay', {
    onDone: ({ id }) => {
      toast('Replay started');
      if (id !== null) onStarted(id);
    },
  });
  const matched = counted?.requested === requested ? counted.matched : null;
  const countMatches = async () => {
    const result = await dryRun.write({ ...body, dryRun: true });
    if (result) setCounted({ requested, matched: result.matched });
  };
  const setWindow = (backMs: number) => {
    setFrom(inputOfInstant(end - backMs));
    setTo(inputOfInstant(end));
  };
  const formId = useId();
  const problem = run.problem ?? dryRun.problem;
  return (
    <Dialog
      isOpen
      onOpenChange={onClose}
      title="Replay events"
      description="Sends the events of a time window to this endpoint again, with the same ids. Counting sends nothing."
      formId={formId}
      onSubmit={() => void countMatches()}
      isBusy={dryRun.isBusy}
      problem={problem}
      code={run.request(from === '' || to === '' ? undefined : body)}
      footer={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button
            type="submit"
            form={formId}
            variant={matched === null ? 'primary' : 'plain'}
            isBusy={dryRun.isBusy}
          >
            {matched === null ? 'Count events' : 'Count again'}
          </Button>
          {matched !== null && matched > 0 ? (
            <Button variant="primary" isBusy={run.isBusy} onClick={() => void run.write(body)}>
              Replay {pluralize(matched, 'event')}
            </Button>
          ) : null}
        </>
      }
    >
      <div className="flex flex-wrap gap-2">
        {presets.map(([label, backMs]) => (
          <Button key={label} size="small" onClick={() => setWindow(backMs)}>
            {label}
          </Button>
        ))}
        <Button size="small" onClick={() => setWindow(end - Date.parse(webhook.createdAt) + minuteMs)}>
          Since it was created
        </Button>
      </div>
      <div className="grid gap-4 sm:grid-cols-2">
        <Field
          label={`From (${zoneName()})`}
          missing={from === '' ? 'Enter a time.' : undefined}
          param="from"
        >
          <Input
            type="datetime-local"
            value={from}
            onChange={(event) => setFrom(event.currentTarget.value)}
          />
        </Field>
        <Field label={`To (${zoneName()})`} missing={to === '' ? 'Enter a time.' : undefined} param="to">
          <Input type="datetime-local" value={to} onChange={(event) => setTo(event.currentTarget.value)} />
        </Field>
      </div>
      <p className="-mt-2 text-sm text-muted">Times are on the application clock.</p>
      <RadioCards
        legend="Events to send"
        param="select"
        value={select}
        onChange={setSelect}
        options={selections}
      />
      <p
        role="status"
        className={matched === null ? 'sr-only' : 'rounded-md bg-note-soft px-3 py-2 text-note'}
      >
        {matched === null
          ? ''
          : matched === 0
            ? 'No events match in this window.'
            : `${pluralize(matched, 'event')} will be sent again.`}
      </p>
    </Dialog>
  );
}
