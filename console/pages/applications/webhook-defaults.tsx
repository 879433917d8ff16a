import { Card } from '../../parts/card.tsx';
import { Field, Input, isAbout, Select } from '../../parts/field.tsx';
import { EventPicker } from '../webhooks/event-picker.tsx';
import type { SectionProps } from './section.ts';

const profiles = [
  { value: 'standard', label: 'Standard: 10 attempts in about 23 hours' },
  { value: 'fast', label: 'Fast: 5 attempts in about a minute' },
  { value: 'none', label: 'None: 1 attempt' },
];

/** What a new webhook has where nothing else is asked for. */
export function WebhookSection({ draft, faults, problem, onChange }: SectionProps) {
  const fault =
    faults.eventTypes ?? (isAbout(problem, 'webhookDefaults.eventTypes') ? problem?.message : undefined);
  return (
    <Card
      title="Webhook defaults"
      description="What a new webhook gets where nothing else is asked for. Webhooks that are there stay as they are."
    >
      <div className="flex flex-col gap-5">
        <div className="grid max-w-2xl gap-4 sm:grid-cols-[3fr_2fr]">
          <Field
            label="Retries"
            hint="By the application’s clock."
            problem={problem}
            param="webhookDefaults.retryProfile"
          >
            <Select
              value={draft.retryProfile}
              options={profiles}
              onChange={(event) => onChange({ retryProfile: event.currentTarget.value })}
            />
          </Field>
          <Field
            label="Deliveries at once"
            hint="From 1 to 64 to one endpoint."
            error={faults.concurrency}
            problem={problem}
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
          error={fault}
          onChange={(eventTypes) => onChange({ eventTypes })}
        />
      </div>
    </Card>
  );
}
