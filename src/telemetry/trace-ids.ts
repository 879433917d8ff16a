import { decodeSuffix } from '../kernel/ids.ts';

/** Where a span stands, in the words of W3C Trace Context. */
export interface Place {
  readonly traceId: string;
  readonly spanId: string;
  readonly traceFlags: number;
}

/** The suffix of a request id is a UUID: its 128 bits are the trace, and its last 64, which are random, the span. */
export function idsOfRequest(requestId: string): { readonly traceId: string; readonly spanId: string } {
  const traceId = decodeSuffix(requestId.slice(-26)).toString(16).padStart(32, '0');
  return { traceId, spanId: traceId.slice(16) };
}

const form = /^(?!ff)[0-9a-f]{2}-(?!0{32})([0-9a-f]{32})-(?!0{16})([0-9a-f]{16})-([0-9a-f]{2})(?:-.*)?$/;

/** What a caller says about its own trace; undefined when it says nothing, or nothing that could be understood. */
export function parseTraceparent(
  text: string | undefined,
): (Place & { readonly isRemote: true }) | undefined {
  const [, traceId, spanId, flags] = form.exec(text ?? '') ?? [];
  if (traceId === undefined || spanId === undefined || flags === undefined) return undefined;
  return { traceId, spanId, traceFlags: Number.parseInt(flags, 16) & 1, isRemote: true };
}

export function traceparentOf({ traceId, spanId, traceFlags }: Place): string {
  return `00-${traceId}-${spanId}-${(traceFlags & 1).toString(16).padStart(2, '0')}`;
}
