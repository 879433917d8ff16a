import type { Actor, Submission } from '../kernel/command.ts';
import { type Presented, withRequestId } from '../kernel/envelope.ts';
import { limits } from '../kernel/limits.ts';
import type { Instant } from '../kernel/table.ts';
import { minuteMs } from '../kernel/time.ts';
import type { Prior } from './batch-priors.ts';
import { claimScope } from './submission.ts';
import type { Vault } from './vault.ts';

const replayedForMs = limits.secretReplayMinutes * minuteMs;
const secretValue = /^(?:sbk_sandbox_|whsec_)|\/console\/(?:invitation|reset)\//;

/** The JSON of a response, including the secrets that only its actor may see. */
export function bodyWithSecrets(
  shown: Presented,
  fields: Readonly<Record<string, unknown>> | undefined,
  secrets: Readonly<Record<string, unknown>>,
  requestId: string,
): string {
  return withRequestId(JSON.stringify({ ...shown, ...fields, ...secrets }), requestId);
}

/** Encrypts a response with secrets, so that only a retry by the same actor can decrypt it. */
export function sealFor(submission: Submission, body: string, vault: Vault): string {
  return vault.seal(body, sealContext(submission, submission.context.actor.id, submission.wallNow));
}

/**
 * The body of a replayed response. The actor is part of the authenticated data: for another actor the decryption fails, and the
 * response is sent without its secrets. An API key can also decrypt the responses of the key that it replaces, so that a
 * rotation does not break a retry.
 */
export function replayedBody(submission: Submission, prior: Prior, vault: Vault): string {
  const { body, sealedBody, createdAt } = prior;
  if (vault.isSealed(body)) return withoutSecretValues(vault.open(body, claimScope(submission) ?? ''));
  if (sealedBody === null || submission.wallNow - createdAt >= replayedForMs) return body;
  for (const actorId of actorIds(submission.context.actor)) {
    const opened = vault.tryOpen(sealedBody, sealContext(submission, actorId, createdAt));
    if (opened !== undefined) return opened;
  }
  return body;
}

function actorIds(actor: Actor): readonly string[] {
  const replaced = actor.kind === 'api_key' ? actor.replaces : undefined;
  return replaced === undefined ? [actor.id] : [actor.id, replaced];
}

/** Includes the time: a row that outlived its response, as after a reset by the previous release, matches no later response. */
function sealContext(submission: Submission, actorId: string, createdAt: Instant): string {
  return `${claimScope(submission) ?? ''} ${createdAt} ${actorId}`;
}

/** Responses stored by the previous release do not name their actor, so no caller gets their secrets. They expire after a day. */
function withoutSecretValues(body: string): string {
  const isSecret = (value: unknown) => typeof value === 'string' && secretValue.test(value);
  return JSON.stringify(JSON.parse(body, (_name, value: unknown) => (isSecret(value) ? undefined : value)));
}
