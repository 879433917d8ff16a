import { useLimits } from '../../client/capabilities.ts';
import { Card } from '../../parts/card.tsx';
import { Field, Input, Select } from '../../parts/field.tsx';
import { EventPicker } from '../webhooks/event-picker.tsx';
import { useRetrySchedules } from '../webhooks/retry-schedules.ts';
import type { SectionProps } from './section.ts';

/** Defaults for new webhooks. */
export function WebhookSection({ draft, errors, onChange }: SectionProps) {
  const { webhookConcurrencyMax } = useLimits();
  return (
    <Card title="Webhook defaults" description="Defaults for new webhooks. Existing webhooks do not change.">
      <div className="flex flex-col gap-5">
        <div className="grid max-w-2xl gap-4 sm:grid-cols-[3fr_2fr]">
          <Field
            label="Retries"
            hint="Scheduled on the application clock."
            param="webhookDefaults.retryProfile"
          >
            <Select
              value={draft.retryProfile}
              options={useRetrySchedules()}
              onChange={(event) => onChange({ retryProfile: event.currentTarget.value })}
            />
          </Field>
          <Field
            label="Concurrent deliveries"
            hint={`1 to ${webhookConcurrencyMax ?? '…'} per endpoint.`}
            error={errors.concurrency}
            param="webhookDefaults.maxConcurrency"
          >
            <Input
              isMono
              inputMode="numeric"
              autoComplete="off"
              value={draft.concurrency}
              onChange={(event) => onChange({ concurrency: event.currentTarget.value.trim() })}
            />
          </Field>
        </div>
        <EventPicker
          value={draft.eventTypes}
          param="webhookDefaults.eventTypes"
          error={errors.eventTypes}
          onChange={(eventTypes) => onChange({ eventTypes })}
        />
      </div>
    </Card>
  );
}
