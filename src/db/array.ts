import type { ColumnType } from '../kernel/table.ts';

/**
 * Encodes one column of a batch as a PostgreSQL array in the binary format. A batch is sent as one array for each
 * column; in the text format every JSON value would be escaped here and unescaped there, character by character.
 */
const elementOid: Readonly<Record<ColumnType, number>> = {
  text: 25,
  bigint: 20,
  integer: 23,
  boolean: 16,
  timestamptz: 1184,
  jsonb: 3802,
  json: 114,
  bytea: 17,
};

const headerBytes = 20;
const microsecondsPerMillisecond = 1000;
const postgresEpochMs = 946_684_800_000; // 2000-01-01, the PostgreSQL epoch.
const wordValues = 2 ** 32;
// Below this length, writing the characters here costs less than a call into Node.
const shortTextMax = 64;

interface Scratch {
  readonly bytes: Buffer;
  readonly view: DataView;
}

function scratchOf(size: number): Scratch {
  const bytes = Buffer.allocUnsafeSlow(size);
  return { bytes, view: new DataView(bytes.buffer, bytes.byteOffset, bytes.length) };
}

// Encoding uses one buffer that grows to the largest column and is reused. Allocating one for each column at its upper bound,
// three times the used size, cost 11 % of the time in garbage collection.
let scratch = scratchOf(64 * 1024);

/** Takes values as in rows: jsonb as a value, json as text, timestamptz as milliseconds, bigint as bigint. */
export function encodeArray(type: ColumnType, values: readonly unknown[]): Buffer {
  const elements =
    type === 'jsonb' ? values.map((value) => (value === null ? null : JSON.stringify(value))) : values;
  const bytesMax = arrayBytes(type, elements);
  if (scratch.bytes.length < bytesMax) scratch = scratchOf(bytesMax * 2);
  const { bytes, view } = scratch;
  let hasNull = 0;
  let offset = headerBytes;
  let previous: unknown;
  let previousAt = offset;
  for (const value of elements) {
    const at = offset;
    if (value === null || value === undefined) {
      hasNull = 1;
      view.setInt32(offset, -1);
      offset += 4;
    } else if (value === previous) {
      // The rows of a batch often share a value, such as the organization.
      bytes.copyWithin(at, previousAt, at);
      offset += at - previousAt;
    } else {
      offset = writeElement(scratch, offset, type, value);
    }
    previous = value;
    previousAt = at;
  }
  view.setInt32(0, values.length === 0 ? 0 : 1);
  view.setInt32(4, hasNull);
  view.setInt32(8, elementOid[type]);
  view.setInt32(12, values.length);
  view.setInt32(16, 1);
  // An empty array has no dimensions, so its header is shorter.
  return Buffer.from(bytes.subarray(0, values.length === 0 ? 12 : offset));
}

/** An upper bound, so that no text has to be measured: UTF-8 needs at most three bytes per UTF-16 code unit. */
function arrayBytes(type: ColumnType, elements: readonly unknown[]): number {
  let bytes = headerBytes + elements.length * 13;
  if (type === 'text' || type === 'json' || type === 'jsonb') {
    for (const value of elements) if (typeof value === 'string') bytes += value.length * 3;
  } else if (type === 'bytea') {
    for (const value of elements) if (value instanceof Uint8Array) bytes += value.length;
  }
  return bytes;
}

function writeElement(to: Scratch, offset: number, type: ColumnType, value: unknown): number {
  const { bytes, view } = to;
  switch (type) {
    case 'text':
    case 'json':
      return writeText(to, offset, value as string, 0);
    case 'jsonb':
      // The binary format of jsonb is a version byte, always 1, and then the JSON text.
      bytes[offset + 4] = 1;
      return writeText(to, offset, value as string, 1);
    case 'bigint':
      view.setInt32(offset, 8);
      view.setBigInt64(offset + 4, value as bigint);
      return offset + 12;
    case 'integer':
      view.setInt32(offset, 4);
      view.setInt32(offset + 4, value as number);
      return offset + 8;
    case 'boolean':
      view.setInt32(offset, 1);
      bytes[offset + 4] = value ? 1 : 0;
      return offset + 5;
    case 'timestamptz':
      view.setInt32(offset, 8);
      writeInstant(view, offset + 4, value as number);
      return offset + 12;
    case 'bytea': {
      const source = value as Uint8Array;
      view.setInt32(offset, source.length);
      bytes.set(source, offset + 4);
      return offset + 4 + source.length;
    }
  }
}

function writeInstant(view: DataView, offset: number, instant: number): void {
  const microseconds = (instant - postgresEpochMs) * microsecondsPerMillisecond;
  if (!Number.isSafeInteger(microseconds)) {
    // Later than the year 2285. `BigInt` also rejects what is not an instant.
    const exact = (BigInt(instant) - BigInt(postgresEpochMs)) * BigInt(microsecondsPerMillisecond);
    view.setBigInt64(offset, exact);
    return;
  }
  const high = Math.floor(microseconds / wordValues);
  view.setInt32(offset, high);
  view.setUint32(offset + 4, microseconds - high * wordValues);
}

function writeText(to: Scratch, offset: number, text: string, prefixBytes: number): number {
  const { bytes, view } = to;
  const start = offset + 4 + prefixBytes;
  const end = text.length <= shortTextMax ? writeAscii(bytes, start, text) : -1;
  if (end >= 0) {
    view.setInt32(offset, end - offset - 4);
    return end;
  }
  // With a length and without an encoding Node uses its fastest path for UTF-8.
  const written = bytes.write(text, start, bytes.length - start);
  view.setInt32(offset, written + prefixBytes);
  return start + written;
}

/** Writes text that has only ASCII characters and returns its end; for other text it returns -1. */
function writeAscii(bytes: Buffer, start: number, text: string): number {
  for (let i = 0; i < text.length; i += 1) {
    const code = text.charCodeAt(i);
    if (code > 127) return -1;
    bytes[start + i] = code;
  }
  return start + text.length;
}
