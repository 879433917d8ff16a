import { decodeSuffix } from '../kernel/ids.ts';

/** A span context, as defined by W3C Trace Context. */
export interface SpanContext {
  readonly traceId: string;
  readonly spanId: string;
  readonly traceFlags: number;
}

/** The suffix of a request id is a UUID: its 128 bits are the trace id, and its last 64 bits, which are random, the span id. */
export function idsOfRequest(requestId: string): { readonly traceId: string; readonly spanId: string } {
  const traceId = decodeSuffix(requestId.slice(-26)).toString(16).padStart(32, '0');
  return { traceId, spanId: traceId.slice(16) };
}

const pattern = /^(?!ff)[0-9a-f]{2}-(?!0{32})([0-9a-f]{32})-(?!0{16})([0-9a-f]{16})-([0-9a-f]{2})(?:-.*)?$/;

/** Parses a caller's `traceparent` header; undefined when it is absent or invalid. */
export function parseTraceparent(
  text: string | undefined,
): (SpanContext & { readonly isRemote: true }) | undefined {
  const [, traceId, spanId, flags] = pattern.exec(text ?? '') ?? [];
  if (traceId === undefined || spanId === undefined || flags === undefined) return undefined;
  return { traceId, spanId, traceFlags: Number.parseInt(flags, 16) & 1, isRemote: true };
}

export function traceparentOf({ traceId, spanId, traceFlags }: SpanContext): string {
  return `00-${traceId}-${spanId}-${(traceFlags & 1).toString(16).padStart(2, '0')}`;
}
