import { createReadStream } from 'node:fs';
import type { Readable } from 'node:stream';
import { wrongUsage } from './problem.ts';
import type { Session } from './session.ts';

export type JsonObject = Record<string, unknown>;

/** The server rejects larger bodies. */
const bytesMax = 1_048_576;

/** The text of a flag that takes JSON, `@FILE`, or `-` (also `@-`) for the standard input. */
export async function readData({ stdin }: Pick<Session, 'stdin'>, from: string): Promise<string> {
  if (from === '-' || from === '@-') return boundedText(stdin, 'The standard input');
  return from.startsWith('@')
    ? boundedText(createReadStream(from.slice(1), { end: bytesMax }), from.slice(1))
    : from;
}

async function boundedText(input: Readable, name: string): Promise<string> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of input) {
    const buffer = Buffer.from(chunk as Buffer | string);
    bytes += buffer.length;
    if (bytes > bytesMax) throw wrongUsage(`${name} is larger than ${bytesMax} bytes.`);
    chunks.push(buffer);
  }
  return Buffer.concat(chunks).toString('utf8');
}

/** Parses a JSON object. Throws a usage error with `message` for anything else. */
export function jsonObject(json: string, message: string): JsonObject {
  try {
    const value: unknown = JSON.parse(json);
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as JsonObject;
  } catch {
    // Reported below, as for valid JSON that is not an object.
  }
  throw wrongUsage(message);
}

/** A copy of the data with one field set. Missing objects on the path are created; list positions are numbers. */
export function withField(data: JsonObject, path: string, value: unknown): JsonObject {
  const [name = '', ...rest] = path.split('.');
  if (name === '' || name === '__proto__')
    throw wrongUsage(`"${path}" is not a valid path. Use a path such as paymentMethod.type.`);
  const inner = data[name];
  const next =
    rest.length === 0
      ? value
      : withField(
          typeof inner === 'object' && inner !== null ? (inner as JsonObject) : {},
          rest.join('.'),
          value,
        );
  if (!Array.isArray(data)) return { ...data, [name]: next };
  return Object.assign([...(data as unknown[])], { [name]: next }) as unknown as JsonObject;
}
