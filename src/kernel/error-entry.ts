/** What the catalogue says of a code. */
export interface CatalogueEntry {
  readonly status: number;
  readonly retryable: boolean;
  readonly stored: boolean;
  /** Keys never meet it: it is between people and the console, or the operator's. */
  readonly isOfConsole: boolean;
  readonly isOfOperator: boolean;
  /** It comes before it is known whose request it is, so no organization ever meets it. */
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
