import type { Instant } from './table.ts';

/**
 * The port to a payment provider. Records are neutral: a provider is told by name what happens to a payment or a transfer, and answers
 * with the notices that it would send. Its own ids and words stay in those notices.
 */
export interface Provider {
  readonly name: string;
  /** The provider's own id of a payment or a transfer, or of a refund or dispute. */
  readonly transactionId: (subjectId: string) => string;
  /** The provider's own id of the event that tells of one move: the same whenever it is sent. */
  readonly eventId: (subjectId: string, version: number) => string;
  /** The notices that come in with this move, in the order in which they arrive. */
  readonly notices: (move: ProviderMove) => readonly Notice[];
}

/** A move of a record as its provider sees it. */
export interface ProviderMove {
  readonly provider: string;
  readonly record: 'payment' | 'transfer';
  readonly recordId: string;
  /** What the move is of: the record itself, or the dispute of a payment. */
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
 * What comes of the notices that arrived with a move. The first that is about this very move causes it. One that was sent
 * before is a duplicate; one about a state that the record has left comes too late and is ignored. Either is kept, and
 * neither is applied; the database, too, refuses a second applied one with the same id.
 */
export function receive(
  provider: Pick<Provider, 'eventId'>,
  notices: readonly Notice[],
  { subjectId, version }: Pick<ProviderMove, 'subjectId' | 'version'>,
): readonly NoticeOutcome[] {
  const seen = new Set<string>();
  return notices.map(({ eventId, about }) => {
    const wasToldThen = about < version && eventId === provider.eventId(subjectId, about);
    if (wasToldThen || seen.has(eventId)) return 'duplicate';
    seen.add(eventId);
    return about === version && eventId === provider.eventId(subjectId, version) ? 'applied' : 'ignored';
  });
}
