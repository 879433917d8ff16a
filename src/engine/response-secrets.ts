import type { Actor } from '../kernel/command.ts';
import { limits } from '../kernel/limits.ts';
import type { Instant } from '../kernel/table.ts';
import type { Prior } from './batch-priors.ts';
import { claimScope, type Submission } from './submission.ts';
import type { Vault } from './vault.ts';

const replayedForMs = limits.secretReplayMinutes * 60_000;
const secretValue = /^(?:sbk_sandbox_|whsec_)|\/console\/(?:invitation|reset)\//;

/** The JSON of a response, with the secrets that only its actor may see. */
export function withSecrets(body: string, secrets: Readonly<Record<string, unknown>>): string {
  return JSON.stringify({ ...(JSON.parse(body) as object), ...secrets });
}

/** Encrypts a response that shows secrets, so that only the actor who received it can decrypt it. */
export function sealFor(submission: Submission, body: string, vault: Vault): string {
  return vault.seal(body, sealContext(submission, submission.context.actor.id, submission.wallNow));
}

/**
 * The body that a replay sends. The actor is part of what the seal authenticates: a seal made for somebody else does not open,
 * and the response goes out without its secret. An API key also opens the seals of the key that it replaces, so that a rotation
 * does not break a retry.
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

function actorIds({ id, replaces }: Actor): readonly string[] {
  return replaces === undefined ? [id] : [id, replaces];
}

/** With the time: a row that outlived its response, as a reset by the release before leaves one, fits no later response. */
function sealContext(submission: Submission, actorId: string, createdAt: Instant): string {
  return `${claimScope(submission) ?? ''} ${createdAt} ${actorId}`;
}

/** Responses that the release before stored do not name their actor, so nobody gets their secrets. They are gone after a day. */
function withoutSecretValues(body: string): string {
  const isSecret = (value: unknown) => typeof value === 'string' && secretValue.test(value);
  return JSON.stringify(JSON.parse(body, (_name, value: unknown) => (isSecret(value) ? undefined : value)));
}
