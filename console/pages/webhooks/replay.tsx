import { useState } from 'react';
import { useNow } from '../../client/now.ts';
import { useWrite } from '../../client/queries.ts';
import type { Replay, Webhook } from '../../client/shapes.ts';
import { Button } from '../../parts/button.tsx';
import { Dialog } from '../../parts/dialog.tsx';
import { Field, Input, isAbout } from '../../parts/field.tsx';
import { useToast } from '../../parts/toast.tsx';
import { count } from '../../parts/words.ts';
import { Choice } from './choice.tsx';

const selections: readonly { value: Replay['select']; label: string; hint: string }[] = [
  { value: 'failed', label: 'What failed', hint: 'Nothing succeeded, and nothing is under way.' },
  {
    value: 'missing',
    label: 'What was never sent here',
    hint: 'Because the endpoint was made later, or has another filter by now.',
  },
  { value: 'all', label: 'Everything', hint: 'Also what the receiver has taken already.' },
];

const minuteMs = 60_000;
const presets: readonly (readonly [words: string, backMs: number])[] = [
  ['Last hour', 60 * minuteMs],
  ['Last 24 hours', 1_440 * minuteMs],
  ['Last 7 days', 10_080 * minuteMs],
];

/** The value of a datetime-local input, read as UTC. */
const written = (instantMs: number) => new Date(instantMs).toISOString().slice(0, 16);
const instantOf = (text: string) => (text === '' ? '' : `${text}${text.length === 16 ? ':00' : ''}.000Z`);

export interface ReplayWindowProps {
  readonly webhook: Webhook;
  readonly onClose: () => void;
  /** With the id of the replay, whose progress the page shows. */
  readonly onStarted: (replayId: string) => void;
}

/** A window of events to one endpoint again. Nothing can be sent before it was counted. */
export function ReplayWindow({ webhook, onClose, onStarted }: ReplayWindowProps) {
  const { toast } = useToast();
  const now = useNow('application');
  // The end of a window is not part of it, so it is put after this minute.
  const end = Math.floor(now / minuteMs) * minuteMs + minuteMs;
  const [from, setFrom] = useState(() => written(end - 1_440 * minuteMs));
  const [to, setTo] = useState(() => written(end));
  const [select, setSelect] = useState<Replay['select']>('failed');
  const body = { from: instantOf(from), to: instantOf(to), select, webhookId: webhook.id };
  const asked = JSON.stringify(body);
  const [counted, setCounted] = useState<{ asked: string; matched: number } | null>(null);
  const dryRun = useWrite<Replay>('app/developer_api_webhook_deliveries/replay');
  const run = useWrite<Replay>('app/developer_api_webhook_deliveries/replay', {
    onDone: ({ id }) => {
      toast('The replay has begun');
      if (id !== null) onStarted(id);
    },
  });
  const matched = counted?.asked === asked ? counted.matched : null;
  const look = async () => {
    const answer = await dryRun.write({ ...body, dryRun: true });
    if (answer) setCounted({ asked, matched: answer.matched });
  };
  const window = (backMs: number) => {
    setFrom(written(end - backMs));
    setTo(written(end));
  };
  const problem = run.problem ?? dryRun.problem;
  const isSaid = isAbout(problem, 'from') || isAbout(problem, 'to');
  return (
    <Dialog
      isOpen
      onOpenChange={onClose}
      title="Replay events"
      description="Sends events of a window to this endpoint again, under the same ids. Counting sends nothing."
      problem={isSaid ? null : problem}
      footer={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button
            look={matched === null ? 'primary' : 'plain'}
            isBusy={dryRun.isBusy}
            disabled={from === '' || to === ''}
            onClick={() => void look()}
          >
            {matched === null ? 'Count what matches' : 'Count again'}
          </Button>
          {matched !== null && matched > 0 ? (
            <Button look="primary" isBusy={run.isBusy} onClick={() => void run.write(body)}>
              Replay {count(matched, 'event')}
            </Button>
          ) : null}
        </>
      }
    >
      <div className="flex flex-wrap gap-2">
        {presets.map(([words, backMs]) => (
          <Button key={words} size="small" onClick={() => window(backMs)}>
            {words}
          </Button>
        ))}
        <Button size="small" onClick={() => window(end - Date.parse(webhook.createdAt) + minuteMs)}>
          Since it was created
        </Button>
      </div>
      <div className="grid gap-4 sm:grid-cols-2">
        <Field label="From (UTC)" problem={problem} param="from">
          <Input
            type="datetime-local"
            value={from}
            onChange={(event) => setFrom(event.currentTarget.value)}
          />
        </Field>
        <Field label="To (UTC)" problem={problem} param="to">
          <Input type="datetime-local" value={to} onChange={(event) => setTo(event.currentTarget.value)} />
        </Field>
      </div>
      <p className="-mt-2 text-sm text-muted">Instants of the application’s clock.</p>
      <Choice legend="What to send" value={select} onChange={setSelect} options={selections} />
      <p
        role="status"
        className={matched === null ? 'sr-only' : 'rounded-md bg-note-soft px-3 py-2 text-note'}
      >
        {matched === null
          ? ''
          : matched === 0
            ? 'Nothing matches in this window.'
            : `${count(matched, 'event')} will be sent again.`}
      </p>
    </Dialog>
  );
}
