import { encodeArray } from '../db/array.ts';
import type { Connection } from '../db/database.ts';
import { assert } from '../kernel/assert.ts';
import type { Submission } from '../kernel/command.ts';
import { withRequestId } from '../kernel/envelope.ts';
import { findAnswers, type IdempotencyRow, pendingStatus, type StoredSecretRow } from './answers.ts';
import { claimScope } from './submission.ts';

export interface Prior extends Pick<IdempotencyRow, 'fingerprint' | 'status' | 'body' | 'createdAt'> {
  /** Null when the response has no secret, or no longer. */
  readonly sealedBody: StoredSecretRow['sealedBody'] | null;
}

interface FoundPrior extends Prior, Pick<IdempotencyRow, 'orgId' | 'key' | 'eventId'> {
  /** The position of the key among the requested ones, from 1. */
  readonly n: number;
  /** The record of the event and the request that caused it; null without an event. */
  readonly eventData: string | null;
  readonly eventRequestId: string | null;
}

/** The responses stored for the idempotency keys of one batch: those in the database, and those that the batch adds. */
export class BatchPriors {
  readonly #priors = new Map<string, Prior>();

  async load(connection: Connection, claims: readonly Submission[]): Promise<void> {
    if (claims.length === 0) return;
    const found = await connection.query<FoundPrior>(findAnswers, [
      encodeArray(
        'text',
        claims.map(({ context }) => context.orgId),
      ),
      encodeArray(
        'text',
        claims.map(({ context }) => context.appId ?? ''),
      ),
      encodeArray(
        'text',
        claims.map(({ idempotency }) => idempotency?.key),
      ),
    ]);
    for (const row of found) {
      const { n, orgId, key, fingerprint, status, createdAt, sealedBody } = row;
      const claim = claims[n - 1];
      const isOwn = claim?.context.orgId === orgId && claim.idempotency?.key === key;
      assert(isOwn, 'the database returned a stored response that was not requested');
      this.set(claim, { fingerprint, status, body: bodyOf(row), createdAt, sealedBody });
    }
  }

  get(submission: Submission): Prior | undefined {
    const scope = claimScope(submission);
    return scope === null ? undefined : this.#priors.get(scope);
  }

  set(submission: Submission, prior: Prior): void {
    const scope = claimScope(submission);
    if (scope !== null) this.#priors.set(scope, prior);
  }
}

function bodyOf({ body, eventId, eventData, eventRequestId }: FoundPrior): string {
  if (eventId === null) return body;
  assert(
    eventData !== null && eventRequestId !== null,
    `the event ${eventId} of a stored response is missing`,
  );
  return withRequestId(eventData, eventRequestId);
}

/** A request with several commands whose process died before the last one. */
export function isDead({ status, createdAt }: Prior, { kind, wallNow }: Submission): boolean {
  const { retakenAfterMs } = kind;
  return status === pendingStatus && retakenAfterMs !== undefined && wallNow - createdAt > retakenAfterMs;
}
