/** Converts random commands into requests and model calls, and formats amounts for comparison. */
import type { Advance } from '../model/advance.ts';
import { type Params, type Payment, returnable } from '../model/payments.ts';
import { amountMax, type Ending, type Flaw, type MoveFields } from './commands.ts';

const currencyOther = 'CHF';

export const flawed: Readonly<Record<Flaw, object>> = {
  zero: { amount: 0, currency: 'EUR' },
  'above the maximum': { amount: amountMax + 1, currency: 'EUR' },
  'no currency': { amount: 1, currency: 'ZZZ' },
  'an extra field': { amount: 1, currency: 'EUR', amountCaptured: 1 },
  'no scenario': { amount: 1, currency: 'EUR', scenario: [] },
};

/** Parameters of an action, with amounts as shares of the remaining amount. */
export function paramsOf(fields: MoveFields, payment: Payment, action: string): Params {
  if (action === 'fail') return fields.failureCode === null ? {} : { failureCode: fields.failureCode };
  if (action !== 'capture' && action !== 'refund' && action !== 'dispute') return {};
  const left = action === 'capture' ? payment.capturable : returnable(payment);
  const most = payment.capturable === 0n && payment.captured === 0n ? payment.amount : left;
  const amount = amountOf(fields.share, most);
  const currency = fields.currency === 'other' ? currencyOther : payment.currency;
  return {
    ...(amount === undefined ? {} : { amount }),
    ...(fields.currency === null ? {} : { currency }),
    ...(action === 'capture' && fields.isFinal ? { isFinal: true } : {}),
  };
}

function amountOf(share: MoveFields['share'], most: bigint): bigint | undefined {
  if (share === null) return undefined;
  const amount = share === 'too much' ? most + 1n : (most * BigInt(share)) / 1_000n;
  const least = amount < 1n ? 1n : amount;
  return least > BigInt(amountMax) ? BigInt(amountMax) : least;
}

export function fieldsOf({ amount, currency, isFinal, failureCode }: Params): object {
  return {
    ...(amount === undefined ? {} : { amount: Number(amount) }),
    ...(currency === undefined ? {} : { currency }),
    ...(isFinal === undefined ? {} : { final: isFinal }),
    ...(failureCode === undefined ? {} : { failureCode }),
  };
}

export function askOf(ask: Ending['ask']): Advance {
  if (ask === null) return { by: 'next' };
  return 'action' in ask ? { by: 'action', action: ask.action } : { by: 'to', to: ask.to };
}

/** Lists actions that move money twice, so that they are chosen twice as often. */
export function likely(actions: readonly string[]): readonly string[] {
  return actions.flatMap((action) => (/capture|refund|dispute/.test(action) ? [action, action] : [action]));
}

/** Usually picks a record that is not final, because a final one rejects every action. */
export function pick<Item>(
  at: number,
  all: readonly Item[],
  isOpen: (item: Item) => boolean,
): Item | undefined {
  const open = all.filter(isOpen);
  const among = at > 1 && open.length > 0 ? open : all;
  return among[at % Math.max(1, among.length)];
}

export function nonZero(books: Readonly<Record<string, bigint>>): Readonly<Record<string, bigint>> {
  return Object.fromEntries(Object.entries(books).filter(([, amount]) => amount !== 0n));
}

export function sorted(record: Readonly<Record<string, bigint>>): readonly (readonly [string, bigint])[] {
  return Object.entries(record).sort(([a], [b]) => (a < b ? -1 : 1));
}

export function formatted(value: unknown): string {
  return String(
    JSON.stringify(value, (_key, part) => (typeof part === 'bigint' ? `${part}n` : (part as unknown))),
  );
}
