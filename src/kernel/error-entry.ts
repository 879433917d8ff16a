/** What the catalogue says of a code. */
export interface CatalogueEntry {
  readonly status: number;
  readonly retryable: boolean;
  readonly stored: boolean;
  /** Only people in the console meet it; keys never do. */
  readonly isOfConsole: boolean;
  /** It comes before it is known whose request it is, so no organization ever meets it. */
  readonly isOfNobody: boolean;
  readonly what: string;
  readonly mend: string;
}

export const entry = (
  status: number,
  what: string,
  mend: string,
  flags: { retryable?: boolean; stored?: boolean; isOfConsole?: boolean; isOfNobody?: boolean } = {},
): CatalogueEntry => ({
  status,
  what,
  mend,
  retryable: flags.retryable ?? false,
  stored: flags.stored ?? false,
  isOfConsole: flags.isOfConsole ?? false,
  isOfNobody: flags.isOfNobody ?? false,
});

export const retryable = { retryable: true };
export const stored = { stored: true };
export const ofNobody = { isOfNobody: true };
