/** An error code in the catalogue. */
export interface CatalogueEntry {
  readonly status: number;
  readonly retryable: boolean;
  readonly stored: boolean;
  /** Only the console or the operator API returns it, never the API. */
  readonly isOfConsole: boolean;
  readonly isOfOperator: boolean;
  /** It occurs before authentication, so it belongs to no organization. */
  readonly isOfNobody: boolean;
  readonly description: string;
  readonly resolution: string;
}

export const entry = (
  status: number,
  description: string,
  resolution: string,
  flags: {
    retryable?: boolean;
    stored?: boolean;
    isOfConsole?: boolean;
    isOfOperator?: boolean;
    isOfNobody?: boolean;
  } = {},
): CatalogueEntry => ({
  status,
  description,
  resolution,
  retryable: flags.retryable ?? false,
  stored: flags.stored ?? false,
  isOfConsole: flags.isOfConsole ?? false,
  isOfOperator: flags.isOfOperator ?? false,
  isOfNobody: flags.isOfNobody ?? false,
});

export const retryable = { retryable: true };
export const stored = { stored: true };
export const ofNobody = { isOfNobody: true };
