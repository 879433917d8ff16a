import { assert } from './assert.ts';

/** What may befall a request of a key. */
export type RequestFault =
  | { readonly type: 'latency'; readonly delayMs: number }
  | {
      readonly type: 'error';
      readonly code: (typeof faultCodes)[number];
      readonly retryAfterSeconds?: number;
    }
  | { readonly type: 'reset_connection' }
  | { readonly type: 'lose_answer' };

/** What may befall the first attempt to deliver an event. */
export type WebhookFault =
  | { readonly type: 'duplicate'; readonly copies: number }
  | { readonly type: 'reorder' }
  | { readonly type: 'delay'; readonly seconds: number }
  | { readonly type: 'drop' };

export type Fault = RequestFault | WebhookFault;

/** The errors that can be injected: those that any request can meet, and that a caller may try again after. */
export const faultCodes = ['rate_limited', 'internal_error', 'service_unavailable'] as const;

export const faultTargets = ['requests', 'webhooks'] as const;

/** What a node must know of a plan to find out whether it is one for a request or a delivery. */
export interface ActivePlan<Kind extends Fault = Fault> {
  readonly orgId: string;
  readonly id: string;
  readonly appId: string;
  readonly fault: Kind;
  readonly seed: number;
  readonly share: number | null;
  readonly operations: readonly string[] | null;
  readonly methods: readonly string[] | null;
  readonly eventTypes: readonly string[] | null;
}

/** How many of those that match a pattern tells of; then it begins anew. */
export const patternLength = 1_000;
const hundred = 100;

/**
 * Which of those that match a plan are hit: a bit for each, the first in the lowest bit of the first byte. Of every hundred, as
 * many are hit as the share says, no more and no fewer, at places that follow from the seed.
 */
export function patternOf({ seed, share }: Pick<ActivePlan, 'seed' | 'share'>): Uint8Array {
  const bits = new Uint8Array(patternLength / 8).fill(share === null ? 0xff : 0);
  if (share === null) return bits;
  const next = numbersOf(seed);
  for (let from = 0; from < patternLength; from += hundred) {
    // The first cards of a deck that is shuffled anew for each hundred.
    const deck = Array.from({ length: hundred }, (_, place) => place);
    for (let drawn = 0; drawn < share; drawn += 1) {
      const other = drawn + (next() % (hundred - drawn));
      const [place = 0, last = 0] = [deck[other], deck[drawn]];
      deck[other] = last;
      const bit = from + place;
      bits[bit >> 3] = (bits[bit >> 3] ?? 0) | (1 << (bit & 7));
    }
  }
  return bits;
}

/** Whether the k-th that matches is hit, counted from 1. The statement that counts reads patterns in the same way. */
export function isInjected(pattern: Uint8Array, k: number): boolean {
  assert(k >= 1, 'what matches is counted from 1');
  const bit = (k - 1) % patternLength;
  return (((pattern[bit >> 3] ?? 0) >> (bit & 7)) & 1) === 1;
}

/** Whole numbers of 32 bits without end, the same ones for the same seed: splitmix32. */
function numbersOf(seed: number): () => number {
  let state = seed | 0;
  return () => {
    state = (state + 0x9e3779b9) | 0;
    let mixed = state ^ (state >>> 16);
    mixed = Math.imul(mixed, 0x21f0aaad);
    mixed ^= mixed >>> 15;
    mixed = Math.imul(mixed, 0x735a2d97);
    return (mixed ^ (mixed >>> 15)) >>> 0;
  };
}

/** What no plan ever hits: what a test needs to see clearly and to get out again. */
const spared: ReadonlySet<string> = new Set(
  [
    'fault_plans',
    'clock',
    'reset',
    'coverage',
    'requests',
    'audit_entries',
    'status',
    'capabilities',
    'state_machines',
  ].map((name) => `developer_api_${name}`),
);

export function isSpared(path: string): boolean {
  return spared.has(path.split('/')[0] ?? '');
}

/** Whether a plan is one for an operation. HEAD is GET here, as it is everywhere. */
export function isForRoute(
  { operations, methods }: Pick<ActivePlan, 'operations' | 'methods'>,
  route: { readonly operationId: string; readonly method: string },
): boolean {
  return (
    (operations === null || operations.includes(route.operationId)) &&
    (methods === null || methods.includes(route.method))
  );
}

/** Whether a plan is one for events of a type, by filters like those of an endpoint. */
export function isForEvent({ eventTypes }: Pick<ActivePlan, 'eventTypes'>, type: string): boolean {
  const ofKind = `${type.split('.')[0]}.*`;
  return eventTypes === null || eventTypes.some((one) => one === '*' || one === ofKind || one === type);
}
