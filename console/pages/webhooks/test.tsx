import { useState } from 'react';
import { useCapabilities } from '../../client/capabilities.ts';
import { useWrite } from '../../client/queries.ts';
import type { DeliveryDetail } from '../../generated/shapes.ts';
import { Anchor } from '../../parts/anchor.tsx';
import { Button, buttonClass } from '../../parts/button.tsx';
import { Dialog } from '../../parts/dialog.tsx';
import { Field, Select } from '../../parts/field.tsx';
import { ProblemBanner } from '../../parts/problem.tsx';
import { Progress } from '../../parts/progress.tsx';
import { StatusBadge } from '../../parts/status-badge.tsx';
import { durationText } from '../../parts/text.ts';
import { AttemptSummary, AttemptView } from '../deliveries/attempt.tsx';

const ownType = 'webhook.tested';

/** Sends one real, signed event and shows the receiver's response. */
export function TestWebhook({ id, onClose }: { readonly id: string; readonly onClose: () => void }) {
  const capabilities = useCapabilities();
  const events = capabilities?.events ?? [];
  const timeoutMs = capabilities?.limits.webhookTimeoutMs;
  const [type, setType] = useState(ownType);
  const test = useWrite<DeliveryDetail>(`app/developer_api_webhooks/${id}/test`);
  const body = type === ownType ? {} : { type };
  const send = () => {
    test.reset();
    void test.write(body);
  };
  return (
    <Dialog
      isOpen
      onOpenChange={onClose}
      size="large"
      title="Send a test event"
      description="Sends one real, signed event to this endpoint, even if it is disabled. No retries."
      code={test.request(body)}
      footer={
        <>
          {test.response ? (
            <Anchor to={`deliveries/${test.response.id}`} className={buttonClass()}>
              Open delivery
            </Anchor>
          ) : (
            <Button onClick={onClose}>Close</Button>
          )}
          <Button variant="primary" isBusy={test.isBusy} onClick={send}>
            {test.response ? 'Send again' : 'Send test event'}
          </Button>
        </>
      }
    >
      <Field
        param="type"
        label="Event type"
        hint={events.find((event) => event.type === type)?.description ?? 'Sends the example of the type.'}
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
            <p className="text-sm text-muted">
              Waiting for the receiver
              {timeoutMs === undefined ? null : `, up to ${durationText(timeoutMs / 1_000)}`}…
            </p>
            <Progress label="Waiting for the receiver" value={null} />
          </>
        ) : null}
        {test.problem ? <ProblemBanner problem={test.problem} /> : null}
        {test.response ? <Outcome delivery={test.response} /> : null}
      </div>
    </Dialog>
  );
}

function Outcome({ delivery }: { readonly delivery: DeliveryDetail }) {
  const attempt = delivery.attempts?.at(-1);
  return (
    <section aria-label="Receiver response" className="flex flex-col gap-3">
      <div className="flex flex-wrap items-center gap-3">
        <StatusBadge status={delivery.status} />
        {attempt ? <AttemptSummary attempt={attempt} /> : null}
      </div>
      {attempt ? <AttemptView attempt={attempt} /> : null}
    </section>
  );
}
