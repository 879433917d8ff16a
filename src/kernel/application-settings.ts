import { limits } from './limits.ts';

/**
 * The retry schedule of failed deliveries, by the application clock. Each number is the wait before an attempt, in seconds; a
 * profile has one attempt per wait.
 */
export const retryProfiles = {
  standard: [0, 5, 30, 120, 600, 1_800, 3_600, 10_800, 21_600, 43_200],
  fast: [0, 1, 4, 15, 30],
  none: [0],
} as const;

export type RetryProfile = keyof typeof retryProfiles;

export const retryProfileNames = Object.keys(retryProfiles) as readonly RetryProfile[];

/** Fees, provider, exchange rates and webhook defaults of an application. A payment keeps the settings at its creation. */
export interface ApplicationSettings {
  /** Hundredths of a percent: 290 is 2.9 %. */
  readonly feeBasisPoints: number;
  /** Minor units of the payment currency, in addition to the percentage. */
  readonly feeFixed: bigint;
  /** The simulated provider for all payments; null selects one by payment method. */
  readonly provider: string | null;
  /** The margin on the mid-market rate, in hundredths of a percent. */
  readonly fxMarginBasisPoints: number;
  /** Overrides of the mid-market rates, by pair: `EUR/USD`. */
  readonly fxRates: Readonly<Record<string, string>>;
  /** Settings of a new webhook where the request omits them. */
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

/** A rate as decimal text: not zero, with up to nine digits before the decimal point and twelve after it. */
export const ratePattern = '^(?=.*[1-9])(0|[1-9]\\d{0,8})(\\.\\d{1,12})?$';
