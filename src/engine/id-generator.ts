import { createHash } from 'node:crypto';
import { decodeSuffix, encodeSuffix } from '../kernel/ids.ts';
import type { Instant } from '../kernel/table.ts';
import { newSuffix } from './ids.ts';

/** Generates id suffixes: from time and random numbers, or from a seed, which makes a run reproducible. */
export interface IdGenerator {
  /** Whether the same requests get the same ids in every run. */
  readonly isSeeded: boolean;
  /** The suffix of a request, once its organization is known. */
  request(orgId: string, kind: 'write' | 'read'): string;
  /** The suffix of a command without a request: the creation of the organization, or the work of a background worker. */
  background(orgId: string): string;
  /**
   * The suffix of a new organization. With a seed it depends on the name and the number of earlier organizations with that name,
   * so that tests that create organizations concurrently get the same ids in every run.
   */
  organization(name: string): string;
  /** The suffixes of the additional rows of a command. With a seed, the same command gets the same suffixes again. */
  rowSuffixes(suffix: string): () => string;
  /** The suffixes of the commands of one multi-step request. */
  stepSuffixes(suffix: string): StepSuffixes;
  /** A number from 0 to 1, for jitter and random choices. With a seed it depends on the key. */
  fraction(key: string): number;
}

export interface StepSuffixes {
  /** The suffix of a command that changes records. */
  next(): string;
  /** The suffix of a command that only tracks progress: the number of these depends on the speed of the machine. */
  bookkeeping(): string;
}

export const randomIdGenerator: IdGenerator = {
  isSeeded: false,
  request: newSuffix,
  background: newSuffix,
  organization: newSuffix,
  rowSuffixes: () => newSuffix,
  stepSuffixes: () => ({ next: newSuffix, bookkeeping: newSuffix }),
  fraction: () => Math.random(),
};

/** The current time of a seeded server, until its clocks are moved. */
export const seededNow: Instant = Date.UTC(2026, 0, 1);

// After 262,144 writes the ids of an organization continue in the next millisecond.
const requestBits = 18;
const stepBits = 13;
const rowBits = 13;
const hashBits = 30;
// A request has 8,192 step numbers. These ranges are reserved for commands that are not steps of the request.
const firstBookkeepingStep = 4_096;
const firstBackgroundStep = 6_144;
const readStep = 8_191;
// The ids of each organization start at a different millisecond, so that organizations do not get similar ids. The range is
// shorter than the fifteen seconds in which an event counts as new.
const spreadMs = 8_192;

/**
 * Ids from a seed. An id encodes the number of the write in its organization, the step of that write and the row of that step, in
 * this order, so that ids sort by creation; the rest is a hash. Reads have a separate counter: the number of reads must not
 * change the ids of writes.
 *
 * A delivery id consists of the first 98 bits of the event id and the last 30 bits of the endpoint id (engine/persist.ts). So the
 * former bits must be unique among events, and the latter must differ between endpoints.
 */
export function seededIdGenerator(seed: string): IdGenerator {
  const organizations = new Map<string, { writes: number; reads: number; backgroundCount: number }>();

  function countsOf(orgId: string) {
    let counts = organizations.get(orgId);
    if (!counts) {
      counts = { writes: 0, reads: 0, backgroundCount: 0 };
      organizations.set(orgId, counts);
    }
    return counts;
  }

  function suffixOf(orgId: string, request: number, step: number): string {
    const at =
      seededNow - spreadMs + (hashOf(seed, orgId) % spreadMs) + Math.floor(request / 2 ** requestBits);
    const number = request % 2 ** requestBits;
    const order = (BigInt(number) << BigInt(stepBits + rowBits)) | (BigInt(step) << BigInt(rowBits));
    return suffixFrom(at, order, hashOf(seed, orgId, request, step));
  }

  function request(orgId: string, kind: 'write' | 'read'): string {
    const counts = countsOf(orgId);
    if (kind === 'read') {
      counts.reads += 1;
      return suffixOf(orgId, counts.reads, readStep);
    }
    counts.writes += 1;
    counts.backgroundCount = 0;
    return suffixOf(orgId, counts.writes, 0);
  }

  return {
    isSeeded: true,
    request,
    organization: (name) => request(`organization ${name}`, 'write'),
    background: (orgId) => {
      const counts = countsOf(orgId);
      counts.backgroundCount += 1;
      if (firstBackgroundStep + counts.backgroundCount === readStep) {
        counts.writes += 1;
        counts.backgroundCount = 1;
      }
      return suffixOf(orgId, counts.writes, firstBackgroundStep + counts.backgroundCount);
    },
    rowSuffixes: (suffix) => {
      let row = 0;
      return () => {
        row += 1;
        return laterSuffix(suffix, BigInt(row), seed);
      };
    },
    stepSuffixes: (suffix) => {
      let [steps, bookkeepingSteps] = [0, 0];
      return {
        next: () => {
          steps += 1;
          return laterSuffix(suffix, BigInt(steps % firstBookkeepingStep) << BigInt(rowBits), seed);
        },
        bookkeeping: () => {
          bookkeepingSteps += 1;
          const offset = bookkeepingSteps % (firstBackgroundStep - firstBookkeepingStep);
          return laterSuffix(suffix, BigInt(firstBookkeepingStep + offset) << BigInt(rowBits), seed);
        },
      };
    },
    fraction: (key) => hashOf(seed, key) / 2 ** hashBits,
  };
}

/** A suffix of the same request, at the given distance after its first one. */
function laterSuffix(suffix: string, distance: bigint, seed: string): string {
  const bits = decodeSuffix(suffix);
  const at = Number(bits >> 80n);
  const order = (((bits >> 64n) & 0xfffn) << 32n) | ((bits >> 30n) & 0xffff_ffffn);
  return suffixFrom(at, order + distance, hashOf(seed, suffix, distance));
}

/** A UUIDv7: the time, then 44 ordered bits, then 30 bits of hash. */
function suffixFrom(at: Instant, order: bigint, hash: number): string {
  const bits =
    (BigInt(at) << 80n) |
    (7n << 76n) |
    ((order >> 32n) << 64n) |
    (2n << 62n) |
    ((order & 0xffff_ffffn) << 30n) |
    BigInt(hash);
  const bytes = new Uint8Array(16);
  for (let i = 0; i < 16; i += 1) bytes[i] = Number((bits >> BigInt(8 * (15 - i))) & 0xffn);
  return encodeSuffix(bytes);
}

function hashOf(...parts: readonly (string | number | bigint)[]): number {
  const digest = createHash('sha256').update(parts.join('\0')).digest();
  return digest.readUInt32BE(0) >>> (32 - hashBits);
}
