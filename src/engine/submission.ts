import type { Answer, CommandKind, Submission } from '../kernel/command.ts';
import { errorBody } from '../kernel/envelope.ts';
import { type Refusal, statusOf } from '../kernel/errors.ts';

export function refusalAnswer(refusal: Refusal, requestId: string, docsUrl: string): Answer<never> {
  const { code, retryAfterSeconds } = refusal;
  return {
    status: statusOf(code),
    body: errorBody(refusal, requestId, docsUrl),
    isReplay: false,
    code,
    ...(retryAfterSeconds === undefined ? {} : { retryAfterSeconds }),
  };
}

/** A command that was refused before it reached the engine. It changes nothing, but the refusal is audited. */
export function refusedCommand(name: string, refusal: Refusal): CommandKind<undefined> {
  return { name, success: 'ok', reads: () => [], decide: () => refusal };
}

/**
 * The scope of an idempotency key is its application, so that rotating an API key does not break a retry. Requests without an
 * application use the scope of the organization.
 */
export function claimScope({ context, idempotency }: Submission): string | null {
  return idempotency === null ? null : `${context.appId ?? context.orgId} ${idempotency.key}`;
}
