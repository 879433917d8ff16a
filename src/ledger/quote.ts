import { limits } from '../kernel/limits.ts';
import { halfEven } from './fee.ts';
import { type FxSettings, type Pair, type PairRate, pairRate, toSource, toTarget } from './fx.ts';

const basisPoints = 10_000n;
const feeBasisPoints = 50n;
const feeMin = 1n;
const amountMax = BigInt(limits.amountMax);

/** The transfer fee: 0.5 % of the source amount, charged on top of it, at least one minor unit. */
export function transferFee(sourceAmount: bigint): bigint {
  const fee = halfEven(sourceAmount * feeBasisPoints, basisPoints);
  return fee < feeMin ? feeMin : fee;
}

export interface QuoteRequest extends Pair {
  /** Which of the two amounts is fixed; the other one is computed from it. */
  readonly fixedSide: 'source' | 'target';
  readonly amount: bigint;
}

export interface Quote extends Pick<PairRate, 'rate' | 'midMarketRate' | 'marginBasisPoints'> {
  readonly ok: true;
  readonly sourceAmount: bigint;
  readonly targetAmount: bigint;
  readonly feeAmount: bigint;
}

export interface NoQuote {
  readonly ok: false;
  readonly reason: 'unsupported_currency' | 'amount_too_small' | 'amount_too_large';
}

export function quote(request: QuoteRequest, settings: FxSettings): Quote | NoQuote {
  const found = pairRate(request.sourceCurrency, request.targetCurrency, settings);
  if (!found) return { ok: false, reason: 'unsupported_currency' };
  const { rate, midMarketRate, marginBasisPoints } = found;
  const isSource = request.fixedSide === 'source';
  const sourceAmount = isSource ? request.amount : toSource(request.amount, rate, request);
  const targetAmount = isSource ? toTarget(request.amount, rate, request) : request.amount;
  const feeAmount = transferFee(sourceAmount);
  if (targetAmount === 0n) return { ok: false, reason: 'amount_too_small' };
  if (targetAmount > amountMax || sourceAmount + feeAmount > amountMax) {
    return { ok: false, reason: 'amount_too_large' };
  }
  return { ok: true, sourceAmount, targetAmount, feeAmount, rate, midMarketRate, marginBasisPoints };
}
