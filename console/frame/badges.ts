import { type List, useRead } from '../client/queries.ts';
import type { FaultPlan, StatusCounts, Webhook } from '../generated/shapes.ts';

export interface Badge {
  /** '3', or '10+' if there are more than are counted. */
  readonly count: string;
  readonly meaning: string;
}

const countedMax = 10;

/** What needs attention, by the page that shows it. */
export function useBadges(): ReadonlyMap<string, Badge> {
  const disputes = useRead<StatusCounts>('app/counts', { resource: 'dispute' }).data;
  const faults = useRead<List<FaultPlan>>('app/developer_api_fault_plans', {
    status: 'active',
    limit: countedMax,
  }).data;
  const disabled = useRead<List<Webhook>>('app/developer_api_webhooks', {
    status: 'disabled',
    limit: countedMax,
  }).data;
  const open = disputes?.counts.find(({ status }) => status === 'needs_response');
  const badges = new Map<string, Badge>();
  const add = (page: string, count: number, isMore: boolean, meaning: string) => {
    if (count > 0) badges.set(page, { count: `${count}${isMore ? '+' : ''}`, meaning });
  };
  add('disputes', open?.count ?? 0, open?.isMore ?? false, 'need a response');
  add('faults', faults?.data.length ?? 0, faults?.hasMore ?? false, 'active');
  const failing = (disabled?.data ?? []).filter(({ disabledReason }) => disabledReason !== 'requested');
  add('webhooks', failing.length, disabled?.hasMore ?? false, 'disabled after failures');
  return badges;
}
