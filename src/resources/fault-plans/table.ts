import { assert } from '../../kernel/assert.ts';
import { matchesEventFilter } from '../../kernel/event.ts';
import type { Id } from '../../kernel/ids.ts';
import { defineTable, type Instant } from '../../kernel/table.ts';

/** Faults that can be injected into an API request. */
export type RequestFault =
  | { readonly type: 'latency'; readonly delayMs: number }
  | {
      readonly type: 'error';
      readonly code: (typeof faultCodes)[number];
      readonly retryAfterSeconds?: number;
    }
  | { readonly type: 'reset_connection' }
  | { readonly type: 'lose_answer' };

/** Faults that can be injected into the first delivery attempt of an event. */
export type WebhookFault =
  | { readonly type: 'duplicate'; readonly copies: number }
  | { readonly type: 'reorder' }
  | { readonly type: 'delay'; readonly seconds: number }
  | { readonly type: 'drop' };

type Fault = RequestFault | WebhookFault;

/** The errors that can be injected: the retryable errors that any request can return. */
export const faultCodes = ['rate_limited', 'internal_error', 'service_unavailable'] as const;

export const faultTargets = ['requests', 'webhooks'] as const;

/** The fields of a fault plan that decide whether it matches a request or a delivery. */
export interface ActivePlan<Kind extends Fault = Fault> {
  readonly orgId: Id<'organization'>;
  readonly id: Id<'fault_plan'>;
  readonly appId: Id<'application'>;
  readonly fault: Kind;
  readonly seed: number;
  readonly share: number | null;
  readonly operations: readonly string[] | null;
  readonly methods: readonly string[] | null;
  readonly eventTypes: readonly string[] | null;
}

export const faultPlanStates = ['active', 'exhausted', 'canceled'] as const;

export interface FaultPlanRow {
  readonly orgId: Id<'organization'>;
  readonly id: Id<'fault_plan'>;
  readonly appId: Id<'application'>;
  readonly status: (typeof faultPlanStates)[number];
  readonly version: number;
  /** Whether it affects requests or webhooks. */
  readonly target: (typeof faultTargets)[number];
  readonly fault: Fault;
  /** The number of affected matches before the plan is exhausted; null for no limit. */
  readonly count: number | null;
  /** The percentage of matches that are affected; null for all. */
  readonly share: number | null;
  readonly seed: bigint;
  readonly operations: readonly string[] | null;
  readonly methods: readonly string[] | null;
  readonly eventTypes: readonly string[] | null;
  readonly seen: bigint;
  readonly applied: bigint;
  readonly createdAt: Instant;
  readonly updatedAt: Instant;
}

export const faultPlansTable = defineTable<FaultPlanRow>('fault_plans', ['org_id', 'id'], {
  orgId: 'text',
  id: 'text',
  appId: 'text',
  status: 'text',
  version: 'integer',
  target: 'text',
  fault: 'jsonb',
  count: 'integer',
  share: 'integer',
  seed: 'bigint',
  operations: 'jsonb',
  methods: 'jsonb',
  eventTypes: 'jsonb',
  seen: 'bigint',
  applied: 'bigint',
  createdAt: 'timestamptz',
  updatedAt: 'timestamptz',
});

const planColumns = [
  ['orgId', 'org_id'],
  ['id', 'id'],
  ['appId', 'app_id'],
  ['fault', 'fault'],
  ['seed', 'seed'],
  ['share', 'share'],
  ['operations', 'operations'],
  ['methods', 'methods'],
  ['eventTypes', 'event_types'],
] as const satisfies readonly (readonly [keyof ActivePlan, string])[];

/**
 * A subquery that returns the active plans of an application as JSON, oldest first, or null if it has none. It is part of
 * the queries that read the application, so that the plans cost no additional round trip.
 */
export function activePlans(target: (typeof faultTargets)[number], orgId: string, appId: string): string {
  const fields = planColumns.map(([property, column]) => `'${property}', p.${column}`).join(', ');
  return `(select jsonb_agg(jsonb_build_object(${fields}) order by p.id) ${fromActive(target, orgId, appId)})`;
}

/** A subquery that returns a text which changes with these plans, or null if there are none. */
export function activePlansRevision(
  target: (typeof faultTargets)[number],
  orgId: string,
  appId: string,
): string {
  return `(select string_agg(p.id || ' ' || p.xmin, ' ' order by p.id) ${fromActive(target, orgId, appId)})`;
}

const fromActive = (target: string, orgId: string, appId: string) =>
  `from fault_plans p where p.org_id = ${orgId} and p.app_id = ${appId} and p.status = 'active' and p.target = '${target}'`;

/** The number of matches in a pattern; then it repeats. */
export const patternLength = 1_000;
const hundred = 100;

/**
 * Selects the matches that get the fault: one bit each, the first in the lowest bit of the first byte. Of every hundred matches,
 * exactly `share` are selected, at positions derived from the seed.
 */
export function patternOf({ seed, share }: Pick<ActivePlan, 'seed' | 'share'>): Uint8Array {
  const bits = new Uint8Array(patternLength / 8).fill(share === null ? 0xff : 0);
  if (share === null) return bits;
  const next = numbersOf(seed);
  for (let from = 0; from < patternLength; from += hundred) {
    // A partial Fisher-Yates shuffle for each hundred.
    const deck = Array.from({ length: hundred }, (_, position) => position);
    for (let drawn = 0; drawn < share; drawn += 1) {
      const other = drawn + (next() % (hundred - drawn));
      const [position = 0, last = 0] = [deck[other], deck[drawn]];
      deck[other] = last;
      const bit = from + position;
      bits[bit >> 3] = (bits[bit >> 3] ?? 0) | (1 << (bit & 7));
    }
  }
  return bits;
}

/** Whether the k-th match gets the fault, counted from 1. The SQL statement that counts matches reads patterns in the same way. */
export function isInjected(pattern: Uint8Array, k: number): boolean {
  assert(k >= 1, 'matches are counted from 1');
  const bit = (k - 1) % patternLength;
  return (((pattern[bit >> 3] ?? 0) >> (bit & 7)) & 1) === 1;
}

/** An endless sequence of 32-bit integers, the same for the same seed: splitmix32. */
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

/** Endpoints exempt from faults: a test needs them to observe the server and to remove its fault plans. */
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

/** Whether a plan matches an operation. HEAD counts as GET, as everywhere. */
export function isForRoute(
  { operations, methods }: Pick<ActivePlan, 'operations' | 'methods'>,
  route: { readonly operationId: string; readonly method: string },
): boolean {
  return (
    (operations === null || operations.includes(route.operationId)) &&
    (methods === null || methods.includes(route.method))
  );
}

/** Whether a plan matches an event type, by the same filters as those of an endpoint. */
export function isForEvent({ eventTypes }: Pick<ActivePlan, 'eventTypes'>, type: string): boolean {
  return eventTypes === null || matchesEventFilter(eventTypes, type);
}
