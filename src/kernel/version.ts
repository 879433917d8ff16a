/** API versions are dates. A request may name one in the `Api-Version` header; the newest is the default. */
export const apiVersion = '2026-11-15';
export const apiVersions: readonly string[] = [apiVersion];
