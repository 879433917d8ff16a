import { limits } from './limits.ts';
import type { RetryProfile } from './retry.ts';

/** What an application has agreed with its provider. A payment keeps the terms under which it was made. */
export interface ApplicationSettings {
  /** Hundredths of a percent: 290 is 2.9 %. */
  readonly feeBasisPoints: number;
  /** Minor units of whatever currency, on top of the share. */
  readonly feeFixed: bigint;
  /** The simulated provider for all payments; null chooses one by the method of payment. */
  readonly provider: string | null;
  /** What a converted amount loses to the middle of the market, in hundredths of a percent. */
  readonly fxMarginBasisPoints: number;
  /** Mid-market rates of its own, by pair: `EUR/USD`. */
  readonly fxRates: Readonly<Record<string, string>>;
  /** What a new webhook of the application has where nothing else is asked for. */
  readonly webhookDefaults: WebhookDefaults;
}

export interface WebhookDefaults {
  readonly eventTypes: readonly string[];
  readonly retryProfile: RetryProfile;
  readonly maxConcurrency: number;
}

export const defaultApplicationSettings: ApplicationSettings = {
  feeBasisPoints: 290,
  feeFixed: 30n,
  provider: null,
  fxMarginBasisPoints: 50,
  fxRates: {},
  webhookDefaults: {
    eventTypes: ['*'],
    retryProfile: 'standard',
    maxConcurrency: limits.webhookConcurrencyDefault,
  },
};

/** A rate as decimal text: up to nine digits before the point and twelve behind it, and not zero. */
export const ratePattern = '^(?=.*[1-9])(0|[1-9]\\d{0,8})(\\.\\d{1,12})?$';
