import { findCurrency } from '../kernel/currency.ts';
import type { Notice, Provider, ProviderMove } from '../kernel/provider.ts';
import { digitsOf } from './digits.ts';
import { rememberLast } from './remember-last.ts';

/**
 * An old-fashioned bank gateway: numeric ids, states in capitals, amounts as decimal text. Its messages are late and
 * duplicated: with a capture it repeats the authorization, with the completion of a transfer its order, and before the
 * settlement it sends a clearing message that is already out of date.
 */
const states: Readonly<Record<string, string>> = {
  requires_action: 'AWAITING_CUSTOMER',
  processing: 'IN_PROGRESS',
  authorized: 'RESERVED',
  partially_captured: 'BOOKED_PART',
  captured: 'BOOKED',
  partially_refunded: 'RETURNED_PART',
  refunded: 'RETURNED',
  disputed: 'CLAIM_OPEN',
  failed: 'REJECTED',
  canceled: 'WITHDRAWN',
  expired: 'LAPSED',
  needs_response: 'CLAIM_QUERY',
  under_review: 'CLAIM_EXAMINED',
};

/** Transitions that the state of the payment does not identify. */
const actionStates: Readonly<Record<string, string>> = {
  refund_pending: 'RETURN_ORDERED',
  refund_failed: 'RETURN_BOUNCED',
  refund_canceled: 'RETURN_RECALLED',
  settle: 'CLEARED',
  dispute_won: 'CLAIM_DROPPED',
  dispute_lost: 'CLAIM_PAID',
};

const transferStates: Readonly<Record<string, string>> = {
  fund: 'COVER_RECEIVED',
  convert: 'EXCHANGED',
  send: 'ORDERED',
  resend: 'ORDERED',
  complete: 'CREDITED',
  return: 'BOUNCED',
  refund: 'COVER_RETURNED',
  fail: 'REJECTED',
  reject: 'STOPPED',
  cancel: 'WITHDRAWN',
};

const transactionId = rememberLast((subjectId) => `TW${digitsOf(`tidewater ${subjectId}`, 14)}`);

const eventDigits = rememberLast((text) => digitsOf(`tidewater ${text}`, 18));
const eventId = (subjectId: string, version: number): string => eventDigits(`${subjectId} ${version}`);

function notice(move: ProviderMove, id: string, state: string, about: number): Notice {
  const { record, recordId, causeId, amount, currency, failureCode } = move;
  const type = `${record.toUpperCase()}.${state}`;
  const payload = {
    MsgId: id,
    MsgType: type,
    TxnRef: transactionId(recordId),
    ...(causeId === null ? {} : { RelatedRef: transactionId(causeId) }),
    Amt: { Ccy: currency, Value: decimal(amount, currency) },
    ...(failureCode === null ? {} : { Reason: failureCode.toUpperCase() }),
  };
  return { eventId: id, transactionId: transactionId(causeId ?? recordId), type, payload, about };
}

function notices(move: ProviderMove): readonly Notice[] {
  const { record, subjectId, version, action, from, to } = move;
  const state = record === 'transfer' ? transferStates[action] : (actionStates[action] ?? states[to]);
  const own = notice(move, eventId(subjectId, version), state ?? to.toUpperCase(), version);
  const previous = (previousState: string | undefined) =>
    notice(move, eventId(subjectId, version - 1), previousState ?? '', version - 1);
  if (action === 'complete') return [previous(transferStates.send), own];
  if (action === 'capture' && from === 'authorized') {
    return [previous(states.authorized), own];
  }
  if (action === 'settle') {
    const late = digitsOf(`tidewater ${subjectId} ${version} clearing`, 18);
    return [notice(move, late, 'CLEARING', version - 1), own];
  }
  return [own];
}

/** Minor units as decimal text: 1250 EUR is 12.50, 1250 JPY is 1250. */
function decimal(amount: bigint, currency: string): string {
  const exponent = findCurrency(currency)?.exponent ?? 0;
  if (exponent === 0) return amount.toString();
  const digits = amount.toString().padStart(exponent + 1, '0');
  return `${digits.slice(0, -exponent)}.${digits.slice(-exponent)}`;
}

export const tidewater: Provider = { name: 'tidewater', transactionId, eventId, notices };
