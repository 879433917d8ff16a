import { hash } from 'node:crypto';
import type { Notice, Provider, ProviderMove } from '../kernel/provider.ts';
import { rememberLast } from './remember-last.ts';

/**
 * A modern card processor: it responds at once, notifies of every transition exactly once and in order, uses lower-case event
 * names, and reports amounts in minor units.
 */
const prefix = { payment: 'ch', refund: 're', dispute: 'du', transfer: 'po' } as const;

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

const transferNames: Readonly<Record<string, string>> = {
  fund: 'transfer.funded',
  convert: 'transfer.converted',
  send: 'transfer.submitted',
  resend: 'transfer.resubmitted',
  complete: 'transfer.paid',
  return: 'transfer.returned',
  refund: 'transfer.refunded',
  fail: 'transfer.failed',
  reject: 'transfer.blocked',
  cancel: 'transfer.canceled',
};

function token(kind: string, text: string): string {
  return `${kind}_${hash('sha256', `meridian ${text}`, 'base64url').replace(/[-_]/g, '').slice(0, 24)}`;
}

const transactionId = rememberLast((subjectId) => token(prefix[kindOf(subjectId)], subjectId));

/** Determined by the id inside the subject, because a report may name an unknown transaction. */
function kindOf(subjectId: string): keyof typeof prefix {
  if (subjectId.includes('trf_')) return 'transfer';
  if (subjectId.startsWith('rfd_')) return 'refund';
  return subjectId.startsWith('dsp_') ? 'dispute' : 'payment';
}

const eventToken = rememberLast((text) => token('ev', text));
const eventId = (subjectId: string, version: number): string => eventToken(`${subjectId} ${version}`);

function notices(move: ProviderMove): readonly Notice[] {
  const { record, subjectId, recordId, causeId, version, action, amount, currency, failureCode, at } = move;
  const id = eventId(subjectId, version);
  const isTransfer = record === 'transfer';
  const type =
    (isTransfer ? transferNames : names)[action] ?? `${isTransfer ? 'transfer' : 'charge'}.${action}`;
  const payload = {
    id,
    type,
    created: Math.trunc(at / 1000),
    data: {
      [isTransfer ? 'transfer' : 'charge']: transactionId(recordId),
      ...(causeId === null ? {} : { reference: transactionId(causeId) }),
      amount: Number(amount),
      currency: currency.toLowerCase(),
      ...(failureCode === null ? {} : { [isTransfer ? 'reason' : 'decline_code']: failureCode }),
    },
  };
  return [{ eventId: id, transactionId: transactionId(causeId ?? recordId), type, payload, about: version }];
}

export const meridian: Provider = { name: 'meridian', transactionId, eventId, notices };
