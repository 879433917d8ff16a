import type { Id } from '../../kernel/ids.ts';
import { type Reader, type Statement, selectList } from '../../kernel/table.ts';
import { type FaultPlanRow, faultPlansTable } from './table.ts';

type Rows = Pick<Reader, 'rows'>;

/** Not `reader.byKey`: its cache depends on versions, and the counters of a plan do not change the version. */
const planById: Statement = {
  name: 'fault_plan_of_application',
  text: `select ${selectList(faultPlansTable, 'p')} from fault_plans p where p.org_id = $1 and p.id = $2 and p.app_id = $3`,
};

export async function findFaultPlan(
  reader: Rows,
  orgId: Id<'organization'>,
  appId: Id<'application'>,
  id: string,
): Promise<FaultPlanRow | undefined> {
  const [row] = await reader.rows<FaultPlanRow>(planById, [orgId, id, appId]);
  return row;
}

const activePlanCount: Statement = {
  name: 'fault_plans_active_count',
  text: `select count(*)::integer as count from fault_plans p
    where p.org_id = $1 and p.app_id = $2 and p.status = 'active'`,
};

export async function countActivePlans(
  reader: Rows,
  orgId: Id<'organization'>,
  appId: Id<'application'>,
): Promise<number> {
  const [row] = await reader.rows<{ count: number }>(activePlanCount, [orgId, appId]);
  return row?.count ?? 0;
}
