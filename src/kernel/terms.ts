/** What an application has agreed with its provider. A payment keeps the terms under which it was made. */
export interface Terms {
  /** Hundredths of a percent: 290 is 2.9 %. */
  readonly feeBasisPoints: number;
  /** Minor units of whatever currency, on top of the share. */
  readonly feeFixed: bigint;
  /** The simulated provider for all payments; null chooses one by the method of payment. */
  readonly provider: string | null;
}

export const defaultTerms: Terms = { feeBasisPoints: 290, feeFixed: 30n, provider: null };
