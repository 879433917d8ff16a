import type { Reader } from '../../kernel/route.ts';
import { type Statement, selectList } from '../../kernel/table.ts';
import { type FaultPlanRow, faultPlansTable } from './table.ts';

type Rows = Pick<Reader, 'rows'>;

/** Not by the reader's own look-up: that goes by versions, and what a plan counts has none. */
const one: Statement = {
  name: 'fault_plan_of_application',
  text: `select ${selectList(faultPlansTable, 'p')} from fault_plans p where p.org_id = $1 and p.id = $2 and p.app_id = $3`,
};

export async function findFaultPlan(
  reader: Rows,
  orgId: string,
  appId: string,
  id: string,
): Promise<FaultPlanRow | undefined> {
  const [row] = await reader.rows<FaultPlanRow>(one, [orgId, id, appId]);
  return row;
}

const activeOf: Statement = {
  name: 'fault_plans_active_count',
  text: `select count(*)::integer as count from fault_plans p
    where p.org_id = $1 and p.app_id = $2 and p.status = 'active'`,
};

export async function countActivePlans(reader: Rows, orgId: string, appId: string): Promise<number> {
  const [row] = await reader.rows<{ count: number }>(activeOf, [orgId, appId]);
  return row?.count ?? 0;
}
