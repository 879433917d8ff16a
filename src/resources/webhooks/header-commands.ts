import { type Refusal, refuse } from '../../kernel/errors.ts';

/** Names that Sandbank sets itself, or that control the connection. */
const reservedNames: ReadonlySet<string> = new Set([
  'accept-encoding',
  'connection',
  'expect',
  'host',
  'http2-settings',
  'keep-alive',
  'te',
  'traceparent',
  'tracestate',
  'trailer',
  'transfer-encoding',
  'upgrade',
  'user-agent',
]);
const reservedPrefixes = ['content-', 'proxy-', 'webhook-'] as const;

/** Refuses reserved names, and names that differ only in case. */
export function refuseHeaders(names: readonly string[]): Refusal | undefined {
  const known = new Set<string>();
  for (const name of names) {
    const lower = name.toLowerCase();
    const isReserved =
      reservedNames.has(lower) || reservedPrefixes.some((prefix) => lower.startsWith(prefix));
    if (isReserved || known.has(lower))
      return refuse('webhook_header_not_allowed', {
        message: isReserved
          ? `The header ${name} is reserved: Sandbank or the connection sets it.`
          : `Duplicate header ${name}: names are not case-sensitive.`,
        param: `/headers/${name.replaceAll('~', '~0')}`,
      });
    known.add(lower);
  }
  return undefined;
}
