/** An error code in the catalogue. */
export interface CatalogueEntry {
  readonly status: number;
  readonly retryable: boolean;
  readonly stored: boolean;
  /** The only API that returns it. The public API shares its errors with the other two. */
  readonly api: 'public' | 'console' | 'operator';
  /** It occurs before authentication, so it belongs to no organization. */
  readonly isUnauthenticated: boolean;
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
    api?: CatalogueEntry['api'];
    isUnauthenticated?: boolean;
  } = {},
): CatalogueEntry => ({
  status,
  description,
  resolution,
  retryable: flags.retryable ?? false,
  stored: flags.stored ?? false,
  api: flags.api ?? 'public',
  isUnauthenticated: flags.isUnauthenticated ?? false,
});

export const retryable = { retryable: true };
export const stored = { stored: true };
export const unauthenticated = { isUnauthenticated: true };
