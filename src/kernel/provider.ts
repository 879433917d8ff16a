import type { Instant } from './table.ts';

/**
 * The port to a payment provider. Records are provider-neutral: the provider receives each move of a payment or a transfer, and
 * returns the notices that it would send. Provider-specific ids and terms stay in those notices.
 */
export interface Provider {
  readonly name: string;
  /** The provider's own id of a payment or a transfer, or of a refund or dispute. */
  readonly transactionId: (subjectId: string) => string;
  /** The provider's own event id of one move: the same at every transmission. */
  readonly eventId: (subjectId: string, version: number) => string;
  /** The notices that the provider sends for this move, in order of arrival. */
  readonly notices: (move: ProviderMove) => readonly Notice[];
}

/** A move of a record as its provider sees it. */
export interface ProviderMove {
  readonly provider: string;
  readonly record: 'payment' | 'transfer';
  readonly recordId: string;
  /** The moved record: the payment or transfer itself, or the dispute of a payment. */
  readonly subjectId: string;
  readonly version: number;
  readonly action: string;
  readonly from: string | null;
  readonly to: string;
  readonly amount: bigint;
  readonly currency: string;
  readonly failureCode: string | null;
  /** The refund or dispute that the move is about, if any. */
  readonly causeId: string | null;
  readonly at: Instant;
}

export interface Notice {
  readonly eventId: string;
  readonly transactionId: string;
  readonly type: string;
  readonly payload: Readonly<Record<string, unknown>>;
  /** The version of the record that the notice is about. */
  readonly about: number;
}

export type NoticeOutcome = 'applied' | 'ignored' | 'duplicate';

/**
 * Classifies the notices that arrive with a move. The first notice about this move is applied. A notice that was sent before is a
 * duplicate; one about a state that the record has left is too late and is ignored. Both are stored, but not applied. The database
 * also refuses a second applied notice with the same id.
 */
export function receive(
  provider: Pick<Provider, 'eventId'>,
  notices: readonly Notice[],
  { subjectId, version }: Pick<ProviderMove, 'subjectId' | 'version'>,
): readonly NoticeOutcome[] {
  const seen = new Set<string>();
  return notices.map(({ eventId, about }) => {
    const wasSentBefore = about < version && eventId === provider.eventId(subjectId, about);
    if (wasSentBefore || seen.has(eventId)) return 'duplicate';
    seen.add(eventId);
    return about === version && eventId === provider.eventId(subjectId, version) ? 'applied' : 'ignored';
  });
}
