import { hash } from 'node:crypto';
import type { Notice, Provider, ProviderMove } from '../kernel/provider.ts';

/**
 * A card processor of the modern kind: it answers at once, tells every move exactly once and in order, names its events in
 * lower case, and counts in minor units.
 */
const prefix = { payment: 'ch', refund: 're', dispute: 'du' } as const;

const names: Readonly<Record<string, string>> = {
  require_action: 'charge.authentication_required',
  process: 'charge.processing',
  authorize: 'charge.authorized',
  capture: 'charge.captured',
  settle: 'payout.paid',
  fail: 'charge.declined',
  cancel: 'charge.voided',
  expire: 'charge.authorization_expired',
  refund: 'charge.refunded',
  refund_pending: 'refund.accepted',
  refund_succeeded: 'refund.paid',
  refund_failed: 'refund.returned',
  refund_canceled: 'refund.withdrawn',
  dispute: 'dispute.opened',
  submit_evidence: 'dispute.evidence_received',
  escalate: 'dispute.escalated',
  dispute_won: 'dispute.reversed',
  dispute_lost: 'dispute.final',
};

function token(kind: string, text: string): string {
  return `${kind}_${hash('sha256', `meridian ${text}`, 'base64url').replace(/[-_]/g, '').slice(0, 24)}`;
}

function transactionId(subjectId: string): string {
  const kind = subjectId.startsWith('rfd_') ? 'refund' : subjectId.startsWith('dsp_') ? 'dispute' : 'payment';
  return token(prefix[kind], subjectId);
}

const eventId = (subjectId: string, version: number): string => token('ev', `${subjectId} ${version}`);

function notices(move: ProviderMove): readonly Notice[] {
  const { subjectId, recordId, causeId, version, action, amount, currency, failureCode, at } = move;
  const id = eventId(subjectId, version);
  const type = names[action] ?? `charge.${action}`;
  const payload = {
    id,
    type,
    created: Math.trunc(at / 1000),
    data: {
      charge: transactionId(recordId),
      ...(causeId === null ? {} : { reference: transactionId(causeId) }),
      amount: Number(amount),
      currency: currency.toLowerCase(),
      ...(failureCode === null ? {} : { decline_code: failureCode }),
    },
  };
  return [{ eventId: id, transactionId: transactionId(causeId ?? recordId), type, payload, about: version }];
}

export const meridian: Provider = { name: 'meridian', transactionId, eventId, notices };
