import { createHash } from 'node:crypto';
import { decodeSuffix, encodeSuffix } from '../kernel/ids.ts';
import type { Instant } from '../kernel/table.ts';
import { newSuffix } from './ids.ts';

/** Where ids come from: from time and chance, or from a seed, so that a run can be repeated. */
export interface IdGenerator {
  /** Whether the same requests get the same ids again. */
  readonly isSeeded: boolean;
  /** The suffix of a request, once it is known whose it is. */
  request(orgId: string, kind: 'write' | 'read'): string;
  /** The suffix of what is made for an organization without a request: the organization itself, what a worker does. */
  background(orgId: string): string;
  /**
   * The suffix of a new organization. With a seed it follows from the name and from how many of that name there were before, so
   * that tests that create organizations side by side get the same ones in every run.
   */
  organization(name: string): string;
  /** The suffixes of rows that a command makes besides the one that has its own. The same command gets the same ones again. */
  rowSuffixes(suffix: string): () => string;
  /** The suffixes of the commands that carry out one request. */
  stepSuffixes(suffix: string): StepSuffixes;
  /** From 0 to 1, for what is spread out. */
  fraction(of: string): number;
}

export interface StepSuffixes {
  /** Of a command that changes records. */
  next(): string;
  /** Of a command that only keeps things going: how many of these there are depends on how fast the machine is. */
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

/** When everything happens on a server that repeats itself, until its clocks are moved. */
export const seededNow: Instant = Date.UTC(2026, 0, 1);

// Beyond 262,144 writes an organization goes on in its next millisecond.
const requestBits = 18;
const stepBits = 13;
const rowBits = 13;
const hashBits = 30;
// Of the 8,192 steps of a request, those from here on are no steps of the request.
const asides = 4_096;
const owns = 6_144;
const reads = 8_191;
// The ids of an organization begin in a millisecond of its own, so that those of two are not alike. It is less than the fifteen
// seconds in which an event counts as new.
const spreadMs = 8_192;

/**
 * Ids from a seed. An id says the how-manieth write of its organization it belongs to, which step of it and which row of the
 * step, in this order, so that ids sort by when they were made; the rest is a hash. Reads are counted apart: how often somebody
 * looks must not change what is made.
 *
 * The first 98 bits of an event and the last 30 of an endpoint make the id of a delivery (engine/persist.ts), so all that
 * tells events apart is in the former, and what tells endpoints apart also in the latter.
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
      return suffixOf(orgId, counts.reads, reads);
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
      if (owns + counts.backgroundCount === reads) {
        counts.writes += 1;
        counts.backgroundCount = 1;
      }
      return suffixOf(orgId, counts.writes, owns + counts.backgroundCount);
    },
    rowSuffixes: (suffix) => {
      let row = 0;
      return () => {
        row += 1;
        return later(suffix, BigInt(row), seed);
      };
    },
    stepSuffixes: (suffix) => {
      let [next, aside] = [0, 0];
      return {
        next: () => {
          next += 1;
          return later(suffix, BigInt(next % asides) << BigInt(rowBits), seed);
        },
        bookkeeping: () => {
          aside += 1;
          return later(suffix, BigInt(asides + (aside % (owns - asides))) << BigInt(rowBits), seed);
        },
      };
    },
    fraction: (of) => hashOf(seed, of) / 2 ** hashBits,
  };
}

/** An id of the same request, so much behind the one that it begins with. */
function later(suffix: string, by: bigint, seed: string): string {
  const bits = decodeSuffix(suffix);
  const at = Number(bits >> 80n);
  const order = (((bits >> 64n) & 0xfffn) << 32n) | ((bits >> 30n) & 0xffff_ffffn);
  return suffixFrom(at, order + by, hashOf(seed, suffix, by));
}

/** A UUIDv7: the time, then 44 bits that count, then 30 that do not. */
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
