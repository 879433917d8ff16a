import type { ApiProblem } from '../../client/request.ts';
import type { Application, RetryProfile, Webhook } from '../../client/shapes.ts';
import { Field, Input, isAbout } from '../../parts/field.tsx';
import { Choice } from './choice.tsx';
import { EventPicker } from './event-picker.tsx';
import { retryProfiles } from './retry.ts';

/** What the form holds; the number stays text while it is typed. */
export interface Draft {
  readonly url: string;
  readonly description: string;
  readonly eventTypes: readonly string[];
  readonly retryProfile: RetryProfile;
  readonly maxConcurrency: string;
}

const concurrencyMax = 64;
const urlHint =
  'Where events are sent by POST: http or https, without credentials. A shared server sends to public addresses only.';

export function newDraft(defaults: Application['webhookDefaults'] | undefined): Draft {
  return {
    url: '',
    description: '',
    eventTypes: defaults?.eventTypes ?? ['*'],
    retryProfile: defaults?.retryProfile ?? 'standard',
    maxConcurrency: String(defaults?.maxConcurrency ?? 10),
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
  };
}

function isConcurrency(text: string): boolean {
  return /^\d{1,2}$/.test(text.trim()) && Number(text) >= 1 && Number(text) <= concurrencyMax;
}

/** Whether it is worth asking the server. */
export function isComplete(draft: Draft): boolean {
  return draft.url.trim() !== '' && draft.eventTypes.length > 0 && isConcurrency(draft.maxConcurrency);
}

/** Whether one of the fields below says it, so that the dialog need not. */
export function isSaidByField(problem: ApiProblem | null): boolean {
  const fields = ['url', 'description', 'eventTypes', 'maxConcurrency', 'secret'];
  return fields.some((field) => isAbout(problem, field));
}

export interface WebhookFieldsProps {
  readonly draft: Draft;
  readonly onChange: (draft: Draft) => void;
  readonly problem: ApiProblem | null;
}

export function WebhookFields({ draft, onChange, problem }: WebhookFieldsProps) {
  const set = (change: Partial<Draft>) => onChange({ ...draft, ...change });
  return (
    <>
      <Field label="URL" problem={problem} param="url" hint={urlHint}>
        <Input
          isMono
          type="url"
          inputMode="url"
          autoComplete="off"
          spellCheck={false}
          maxLength={2000}
          placeholder="https://example.com/webhooks"
          value={draft.url}
          onChange={(event) => set({ url: event.currentTarget.value })}
        />
      </Field>
      {problem?.code === 'webhook_url_not_allowed' ? <NotAllowed /> : null}
      <Field label="Description" isOptional problem={problem} param="description">
        <Input
          maxLength={500}
          placeholder="Order service, staging"
          value={draft.description}
          onChange={(event) => set({ description: event.currentTarget.value })}
        />
      </Field>
      <EventPicker
        value={draft.eventTypes}
        onChange={(eventTypes) => set({ eventTypes })}
        error={isAbout(problem, 'eventTypes') ? problem?.message : undefined}
      />
      <Choice
        legend="When an attempt fails"
        value={draft.retryProfile}
        onChange={(retryProfile) => set({ retryProfile })}
        options={retryProfiles}
      />
      <Field
        label="Requests at once"
        problem={problem}
        param="maxConcurrency"
        error={isConcurrency(draft.maxConcurrency) ? undefined : `A number from 1 to ${concurrencyMax}.`}
        hint="With 1, first attempts come in the order of the events."
      >
        <Input
          inputMode="numeric"
          maxLength={2}
          className="max-w-24"
          value={draft.maxConcurrency}
          onChange={(event) => set({ maxConcurrency: event.currentTarget.value })}
        />
      </Field>
    </>
  );
}

/** The server guards its own network; what a person can do about it depends on who runs the server. */
function NotAllowed() {
  return (
    <div className="rounded-md bg-note-soft px-3 py-2 text-sm text-note">
      <p className="font-medium">Why this server does not send there</p>
      <p>
        It sends by http or https without credentials in the URL, and a shared server only to public
        addresses, so that nobody reaches its own network through it. Use a public address or a tunnel to your
        machine. On a server of your own, <code className="font-mono">SANDBANK_PRIVATE_WEBHOOKS=on</code>{' '}
        allows private addresses.
      </p>
    </div>
  );
}
