import { useLimits } from '../../client/capabilities.ts';
import type { Limits } from '../../client/limits.ts';
import type { ApiProblem } from '../../client/request.ts';
import type { Application, RetryProfile, Webhook } from '../../generated/shapes.ts';
import { Field, Input } from '../../parts/field.tsx';
import { RadioCards } from '../radio-cards.tsx';
import { EventPicker } from './event-picker.tsx';
import { HeaderFields, type HeaderRow, headersOf } from './header-fields.tsx';
import { useRetrySchedules } from './retry-schedules.ts';

/** Form state; the number stays a string while it is typed. */
export interface Draft {
  readonly url: string;
  readonly description: string;
  readonly eventTypes: readonly string[];
  readonly retryProfile: RetryProfile;
  readonly maxConcurrency: string;
  /** Null leaves the stored headers as they are. */
  readonly headers: readonly HeaderRow[] | null;
}

const urlHint =
  'Receives events as POST requests: http or https, without credentials. A shared server sends to public addresses only.';

export function newDraft(
  defaults: Application['webhookDefaults'] | undefined,
  { webhookConcurrencyDefault }: Limits,
): Draft {
  return {
    url: '',
    description: '',
    eventTypes: defaults?.eventTypes ?? ['*'],
    retryProfile: defaults?.retryProfile ?? 'standard',
    maxConcurrency: String(defaults?.maxConcurrency ?? webhookConcurrencyDefault ?? ''),
    headers: null,
  };
}

export function draftOf(webhook: Webhook): Draft {
  const { url, description, eventTypes, retryProfile, maxConcurrency } = webhook;
  return {
    url,
    description: description ?? '',
    eventTypes,
    retryProfile,
    maxConcurrency: String(maxConcurrency),
    headers: null,
  };
}

export function bodyOf(draft: Draft) {
  const description = draft.description.trim();
  return {
    url: draft.url.trim(),
    description: description === '' ? null : description,
    eventTypes: draft.eventTypes,
    retryProfile: draft.retryProfile,
    maxConcurrency: Number(draft.maxConcurrency),
    ...(draft.headers === null ? {} : { headers: headersOf(draft.headers) }),
  };
}

function isConcurrency(text: string, { webhookConcurrencyMax = Number.POSITIVE_INFINITY }: Limits): boolean {
  return /^\d+$/.test(text.trim()) && Number(text) >= 1 && Number(text) <= webhookConcurrencyMax;
}

/** What each field lacks; nothing if the form can be submitted. */
export function missingIn(
  { url, eventTypes, maxConcurrency }: Pick<Draft, 'url' | 'eventTypes' | 'maxConcurrency'>,
  limits: Limits,
) {
  return {
    url: url.trim() === '' ? 'Enter a URL.' : undefined,
    eventTypes: eventTypes.length === 0 ? 'Select at least one event type.' : undefined,
    maxConcurrency: isConcurrency(maxConcurrency, limits)
      ? undefined
      : `Enter a number from 1 to ${limits.webhookConcurrencyMax}.`,
  };
}

export function isComplete(draft: Draft, limits: Limits): boolean {
  return Object.values(missingIn(draft, limits)).every((missing) => missing === undefined);
}

export interface WebhookFieldsProps {
  readonly draft: Draft;
  readonly onChange: (draft: Draft) => void;
  /** Only to explain a URL that is not allowed: the fields show the problem. */
  readonly problem: ApiProblem | null;
  /** The names of the headers that the endpoint already has. */
  readonly storedHeaders?: readonly string[];
  /** The URL of an inbox belongs to the server. */
  readonly isInbox?: boolean;
}

export function WebhookFields(props: WebhookFieldsProps) {
  const { draft, onChange, problem, storedHeaders = [], isInbox = false } = props;
  const limits = useLimits();
  const missing = missingIn(draft, limits);
  const set = (change: Partial<Draft>) => onChange({ ...draft, ...change });
  return (
    <>
      <Field
        label="URL"
        missing={missing.url}
        param="url"
        hint={isInbox ? 'Sandbank hosts this endpoint, so its URL cannot be changed.' : urlHint}
      >
        <Input
          isMono
          readOnly={isInbox}
          type="url"
          inputMode="url"
          autoComplete="off"
          spellCheck={false}
          maxLength={limits.webhookUrlLengthMax}
          placeholder="https://example.com/webhooks"
          value={draft.url}
          onChange={(event) => set({ url: event.currentTarget.value })}
        />
      </Field>
      {problem?.code === 'webhook_url_not_allowed' ? <NotAllowed /> : null}
      <Field label="Description" isOptional param="description">
        <Input
          maxLength={limits.descriptionLengthMax}
          placeholder="Order service, staging"
          value={draft.description}
          onChange={(event) => set({ description: event.currentTarget.value })}
        />
      </Field>
      <EventPicker
        value={draft.eventTypes}
        onChange={(eventTypes) => set({ eventTypes })}
        param="eventTypes"
        missing={missing.eventTypes}
      />
      <RadioCards
        legend="Retry schedule"
        param="retryProfile"
        value={draft.retryProfile}
        onChange={(retryProfile) => set({ retryProfile })}
        options={useRetrySchedules()}
      />
      <Field
        label="Concurrent requests"
        param="maxConcurrency"
        missing={missing.maxConcurrency}
        hint="With 1, first attempts are sent in event order."
      >
        <Input
          inputMode="numeric"
          className="max-w-24"
          value={draft.maxConcurrency}
          onChange={(event) => set({ maxConcurrency: event.currentTarget.value })}
        />
      </Field>
      <HeaderFields
        rows={draft.headers}
        storedNames={storedHeaders}
        onChange={(headers) => set({ headers })}
      />
    </>
  );
}

/** The server protects its own network; what a person can do about it depends on who runs the server. */
function NotAllowed() {
  return (
    <div className="rounded-md bg-note-soft px-3 py-2 text-sm text-note">
      <p className="font-medium">Why this URL is not allowed</p>
      <p>
        It must be http or https without credentials, and a shared server sends only to public addresses, to
        protect its own network. Use a public address or a tunnel to your machine. On your own server,{' '}
        <code className="font-mono">SANDBANK_PRIVATE_WEBHOOKS=on</code> allows private addresses.
      </p>
    </div>
  );
}
