import { isInjected, patternOf } from '../../src/resources/fault-plans/table.ts';
import { type ApiClient, type Body, expectOk } from './api-client.ts';

export const faultPlans = 'developer_api_fault_plans';

export async function createFaultPlan(client: ApiClient, body: object): Promise<Body> {
  return expectOk(await client.post(faultPlans, body));
}

export async function readFaultPlan(client: ApiClient, id: string): Promise<Body> {
  return expectOk(await client.get(`${faultPlans}/${id}`));
}

/** The numbers of the requests that a plan affects among the first `count`, counted from 1. */
export function hitsOf(seed: number, share: number, count: number): readonly number[] {
  const pattern = patternOf({ seed, share });
  return Array.from({ length: count }, (_, i) => i + 1).filter((k) => isInjected(pattern, k));
}
