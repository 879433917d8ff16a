import type { ActivePlan, Fault, faultTargets } from '../../kernel/fault.ts';
import { defineTable, type Instant } from '../../kernel/table.ts';

export const faultPlanStates = ['active', 'exhausted', 'canceled'] as const;

export interface FaultPlanRow {
  readonly orgId: string;
  readonly id: string;
  readonly appId: string;
  readonly status: (typeof faultPlanStates)[number];
  readonly version: number;
  /** What it strikes. */
  readonly target: (typeof faultTargets)[number];
  readonly fault: Fault;
  /** How many are hit before it is exhausted; null for no end. */
  readonly count: number | null;
  /** How many of a hundred that match are hit; null for all. */
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

const names = [
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
 * A subquery that gives the active plans of an application as JSON, the oldest first, and null when it has none. Whoever
 * looks for an application asks along with it, so that knowing of no plan costs no round trip.
 */
export function activePlans(target: (typeof faultTargets)[number], orgId: string, appId: string): string {
  const fields = names.map(([property, column]) => `'${property}', p.${column}`).join(', ');
  return `(select jsonb_agg(jsonb_build_object(${fields}) order by p.id) from fault_plans p
    where p.org_id = ${orgId} and p.app_id = ${appId} and p.status = 'active' and p.target = '${target}')`;
}
