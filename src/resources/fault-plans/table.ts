import type { ActivePlan, Fault, faultTargets } from '../../kernel/fault.ts';
import type { Id } from '../../kernel/ids.ts';
import { defineTable, type Instant } from '../../kernel/table.ts';

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
  return `(select jsonb_agg(jsonb_build_object(${fields}) order by p.id) from fault_plans p
    where p.org_id = ${orgId} and p.app_id = ${appId} and p.status = 'active' and p.target = '${target}')`;
}
