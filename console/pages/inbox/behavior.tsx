import { useLimits } from '../../client/capabilities.ts';
import { useWrite } from '../../client/queries.ts';
import { useAllowed } from '../../frame/session.tsx';
import type { RetryProfile, Webhook } from '../../generated/shapes.ts';
import { Field, Select } from '../../parts/field.tsx';
import { ProblemBanner } from '../../parts/problem.tsx';
import { SegmentedControl } from '../../parts/segmented-control.tsx';
import { useRetrySchedules } from '../webhooks/retry-schedules.ts';
import {
  type Behavior,
  consequenceOf,
  defaults,
  delayOptions,
  failingStatuses,
  modeOf,
  modes,
  type Response,
} from './behavior-mode.ts';

/** How the inbox responds. Every choice applies immediately, also to the retries of pending deliveries. */
export function InboxBehavior({
  webhook,
  behavior,
}: {
  readonly webhook: Webhook;
  readonly behavior: Behavior;
}) {
  const isAllowed = useAllowed('developer');
  const schedules = useRetrySchedules();
  const update = useWrite<Webhook>(`app/developer_api_webhooks/${webhook.id}/update`);
  const mode = modeOf(behavior);
  const set = (inbox: Behavior) => void update.write({ inbox });
  const consequence = consequenceOf(behavior, webhook.retryProfile !== 'none', useLimits());
  return (
    <section
      aria-labelledby="behavior"
      className="flex flex-col gap-3 rounded-lg border bg-surface px-5 py-4"
    >
      <div className="flex flex-wrap items-baseline gap-x-3">
        <h2 id="behavior" className="text-lg font-semibold">
          Behavior
        </h2>
        <p className="text-sm text-muted" aria-live="polite">
          {consequence}
        </p>
      </div>
      {isAllowed ? (
        <div className="flex flex-wrap items-end gap-x-4 gap-y-3">
          <SegmentedControl
            legend="Behavior"
            value={mode}
            options={modes}
            isDisabled={update.isBusy}
            onChange={(chosen) => set(defaults[chosen])}
          />
          {behavior.type === 'respond' && mode !== 'succeed' && mode !== 'timeout' ? (
            <ResponseFields mode={mode} behavior={behavior} onChange={set} />
          ) : null}
          <Field label="Retry schedule" param={null} className="w-full sm:w-88">
            <Select
              value={webhook.retryProfile}
              options={schedules}
              onChange={(event) =>
                void update.write({ retryProfile: event.currentTarget.value as RetryProfile })
              }
            />
          </Field>
        </div>
      ) : null}
      {update.problem ? <ProblemBanner problem={update.problem} /> : null}
    </section>
  );
}

function ResponseFields({
  mode,
  behavior,
  onChange,
}: {
  readonly mode: 'fail' | 'slow';
  readonly behavior: Response;
  readonly onChange: (behavior: Behavior) => void;
}) {
  const limits = useLimits();
  return (
    <>
      {mode === 'fail' ? (
        <Field label="Response status" param={null} className="w-full sm:w-60">
          <Select
            value={String(behavior.responseStatus)}
            options={failingStatuses.map(({ status, label }) => ({ value: String(status), label }))}
            onChange={(event) => {
              const chosen = failingStatuses.find(
                ({ status }) => String(status) === event.currentTarget.value,
              );
              if (chosen) onChange({ ...behavior, responseStatus: chosen.status });
            }}
          />
        </Field>
      ) : null}
      <Field label="Responds" param={null} className="w-full sm:w-36">
        <Select
          value={String(behavior.delayMs)}
          options={delayOptions(mode, behavior.delayMs, limits.inboxDelayMsMax)}
          onChange={(event) => onChange({ ...behavior, delayMs: Number(event.currentTarget.value) })}
        />
      </Field>
    </>
  );
}
