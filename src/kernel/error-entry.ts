/** What the catalogue says of a code. */
export interface CatalogueEntry {
  readonly status: number;
  readonly retryable: boolean;
  readonly stored: boolean;
  /** Only people in the console meet it; keys never do. */
  readonly isOfConsole: boolean;
  readonly what: string;
  readonly mend: string;
}

export const entry = (
  status: number,
  what: string,
  mend: string,
  flags: { retryable?: boolean; stored?: boolean; isOfConsole?: boolean } = {},
): CatalogueEntry => ({
  status,
  what,
  mend,
  retryable: flags.retryable ?? false,
  stored: flags.stored ?? false,
  isOfConsole: flags.isOfConsole ?? false,
});

export const retryable = { retryable: true };
export const stored = { stored: true };
