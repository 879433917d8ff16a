import type { Answer, Erased, Submission } from '../kernel/command.ts';
import type { CommandSpan } from '../telemetry/ports.ts';

/** A command that waits for its batch, or is in one. */
export interface Queued {
  readonly submission: Submission;
  readonly scope: string | null;
  readonly arrivedAt: number;
  readonly resolve: (answer: Answer<Erased>) => void;
  readonly span: CommandSpan | undefined;
}

/**
 * Takes the commands of the next batch in order. A command stays in the queue while another one with the same idempotency key is in
 * flight, or while its organization is being cleared.
 */
export function takeBatch(
  queue: readonly Queued[],
  sizeMax: number,
  claimed: ReadonlySet<string>,
  clearing: ReadonlySet<string>,
): { readonly batch: readonly Queued[]; readonly remaining: Queued[] } {
  const batch: Queued[] = [];
  const remaining: Queued[] = [];
  let isAlone = false;
  for (const queued of queue) {
    const { submission, scope } = queued;
    const isKeyInFlight = scope !== null && claimed.has(scope);
    const isBlocked = isAlone || clearing.has(submission.context.orgId);
    // A command that clears its organization runs alone, so it waits until it is the first of a batch.
    const mustWait = submission.kind.clears && batch.length > 0;
    if (isKeyInFlight || isBlocked || mustWait || batch.length >= sizeMax) {
      remaining.push(queued);
      continue;
    }
    batch.push(queued);
    isAlone = submission.kind.clears === true;
  }
  return { batch, remaining };
}
