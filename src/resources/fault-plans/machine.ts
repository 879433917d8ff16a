import { accepted, type CommandKind, change, type PreparedCommand } from '../../kernel/command.ts';
import { refuse } from '../../kernel/errors.ts';
import { formatId, type Id } from '../../kernel/ids.ts';
import { limits } from '../../kernel/limits.ts';
import { instantToText } from '../../kernel/list.ts';
import { defineMachine, refuseMove } from '../../kernel/machine.ts';
import { type FaultPlanRow, faultPlanStates } from './table.ts';

/**
 * A plan is active from its creation until it has affected `count` matches or is canceled. The statement that counts the
 * matches also exhausts the plan (engine/fault-counter.ts), so no command requests that move.
 */
export const faultPlanMachine = defineMachine<FaultPlanRow>()({
  resource: 'fault_plan',
  states: faultPlanStates,
  moves: [
    { action: 'create', from: [], to: ['active'], event: 'created' },
    { action: 'exhaust', from: ['active'], to: ['exhausted'], triggeredBy: 'request' },
    { action: 'cancel', from: ['active'], to: ['canceled'] },
  ],
});

export type FaultPlanFields = Pick<
  FaultPlanRow,
  'target' | 'fault' | 'count' | 'share' | 'operations' | 'methods' | 'eventTypes'
>;

export interface CreateFaultPlan {
  readonly fields: FaultPlanFields;
  readonly seed: number;
  /** The number of active plans of the application, counted before the command. */
  readonly others: number;
  /** None of the operations uses any of the methods: the plan could never match. */
  readonly isPointless: boolean;
}

export const createFaultPlan: PreparedCommand<CreateFaultPlan> = {
  name: 'fault_plans.create',
  success: 'created',
  needsPrepare: true,
  reads: () => [],
  decide: ({ fields, seed, others, isPointless }, { orgId, appId, suffix, now }) => {
    if (appId === null) throw new Error('a fault plan belongs to an application');
    if (isPointless)
      return refuse('invalid_request', {
        message: `This plan can never match: none of the operations (${fields.operations?.join(', ')}) uses the method ${fields.methods?.join(' or ')}. Omit \`methods\`, or name the method of the operations.`,
        param: '/methods',
      });
    if (others >= limits.faultPlansActiveMax) return refuse('fault_plans_limit');
    // From here it must succeed.
    const row: FaultPlanRow = {
      orgId,
      id: formatId('fault_plan', suffix),
      appId,
      status: 'active',
      version: 1,
      ...fields,
      seed: BigInt(seed),
      seen: 0n,
      applied: 0n,
      createdAt: now,
      updatedAt: now,
    };
    return accepted([change(faultPlanMachine, 'create', null, row)], 'fault_plan', row);
  },
};

/** A plan of another application is not found, as in all fault plan operations. */
export const cancelFaultPlan: CommandKind<{ readonly id: Id<'fault_plan'> }> = {
  name: 'fault_plans.cancel',
  success: 'ok',
  reads: ({ id }) => [{ resource: 'fault_plan', id, lock: 'update' }],
  decide: ({ id }, { appId, now }, rows) => {
    const before = rows.get<FaultPlanRow>('fault_plan', id);
    if (!before || before.appId !== appId) return refuse('resource_not_found');
    const refusal = refuseMove(faultPlanMachine, 'cancel', before);
    if (refusal) return refusal;
    const row: FaultPlanRow = {
      ...before,
      status: 'canceled',
      version: before.version + 1,
      updatedAt: now,
    };
    return accepted([change(faultPlanMachine, 'cancel', before, row)], 'fault_plan', row);
  },
};

export function presentFaultPlan(row: FaultPlanRow) {
  return {
    object: 'fault_plan',
    sandbox: true,
    status: row.status,
    id: row.id,
    on: row.target,
    fault: row.fault,
    count: row.count,
    share: row.share,
    seed: Number(row.seed),
    operations: row.operations,
    methods: row.methods,
    eventTypes: row.eventTypes,
    seen: Number(row.seen),
    applied: Number(row.applied),
    createdAt: instantToText(row.createdAt),
    updatedAt: instantToText(row.updatedAt),
  } as const;
}
