import { useState } from 'react';
import { useCapabilities } from '../../client/currencies.ts';
import { useWrite } from '../../client/queries.ts';
import type { Delivery } from '../../client/shapes.ts';
import { Anchor } from '../../parts/anchor.tsx';
import { Button, buttonClass } from '../../parts/button.tsx';
import { Dialog } from '../../parts/dialog.tsx';
import { Field, Select } from '../../parts/field.tsx';
import { ProblemBanner } from '../../parts/problem.tsx';
import { Progress } from '../../parts/progress.tsx';
import { StatusBadge } from '../../parts/status-badge.tsx';
import { AttemptSummary, AttemptView } from '../deliveries/attempt.tsx';

const ownType = 'webhook.tested';

/** One real, signed event, and what the receiver says to it. */
export function TestWebhook({ id, onClose }: { readonly id: string; readonly onClose: () => void }) {
  const events = useCapabilities()?.events ?? [];
  const [type, setType] = useState(ownType);
  const test = useWrite<Delivery>(`app/developer_api_webhooks/${id}/test`);
  const send = () => {
    test.reset();
    void test.write(type === ownType ? {} : { type });
  };
  return (
    <Dialog
      isOpen
      onOpenChange={onClose}
      size="large"
      title="Send a test event"
      description="It is real and signed, goes to this endpoint only, is tried once, and also when it is disabled."
      footer={
        <>
          {test.answer ? (
            <Anchor to={`deliveries/${test.answer.id}`} className={buttonClass()}>
              Open the delivery
            </Anchor>
          ) : (
            <Button onClick={onClose}>Close</Button>
          )}
          <Button look="primary" isBusy={test.isBusy} onClick={send}>
            {test.answer ? 'Send again' : 'Send test event'}
          </Button>
        </>
      }
    >
      <Field
        label="Event type"
        hint={events.find((event) => event.type === type)?.description ?? 'The example of the type is sent.'}
      >
        <Select
          value={type}
          options={[ownType, ...events.map((event) => event.type).filter((name) => name !== ownType)]}
          onChange={(event) => setType(event.currentTarget.value)}
        />
      </Field>
      <div aria-live="polite" className="flex flex-col gap-3">
        {test.isBusy ? (
          <>
            <p className="text-sm text-muted">Waiting for the receiver, up to 10 seconds…</p>
            <Progress label="Waiting for the receiver" value={null} />
          </>
        ) : null}
        {test.problem ? <ProblemBanner problem={test.problem} /> : null}
        {test.answer ? <Outcome delivery={test.answer} /> : null}
      </div>
    </Dialog>
  );
}

function Outcome({ delivery }: { readonly delivery: Delivery }) {
  const attempt = delivery.attempts?.at(-1);
  return (
    <section aria-label="What the receiver said" className="flex flex-col gap-3">
      <div className="flex flex-wrap items-center gap-3">
        <StatusBadge status={delivery.status} />
        {attempt ? <AttemptSummary attempt={attempt} /> : null}
      </div>
      {attempt ? <AttemptView attempt={attempt} /> : null}
    </section>
  );
}
