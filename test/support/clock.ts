/** Application clocks in tests: calls, timers and the effects of an advance. */
import { expect } from 'vitest';
import type { Server } from '../../src/server.ts';
import { type Answer, type ApiClient, type Body, type Call, expectOk } from './api-client.ts';
import { queryRows } from './server.ts';

export const clock = 'developer_api_clock';
export const secondMs = 1_000;
export const hourMs = 3_600_000;
export const dayMs = 24 * hourMs;

/** The default wall clock time of these tests: a Tuesday morning in the future. */
export const startTime = Date.parse('2031-03-04T10:00:00.000Z');

export function isoTime(instant: number): string {
  return new Date(instant).toISOString();
}

export interface Effect {
  readonly at: string;
  readonly type: string;
  readonly id: string;
  readonly action: string;
  readonly from?: string;
  readonly to?: string;
  readonly event?: string;
}

interface ClockBody extends Body {
  readonly now: string;
  readonly offsetSeconds: number;
}

export interface AdvanceBody extends ClockBody {
  readonly complete: boolean;
  readonly left?: { readonly timers: number; readonly nextAt: string; readonly to: string };
  readonly happened: readonly Effect[];
}

export interface ClockApi {
  read(): Promise<ClockBody>;
  /** Fails unless the response is a success; `post` returns any response. */
  advance(by: { seconds: number } | { to: string }): Promise<AdvanceBody>;
  advanceTo(instant: number): Promise<AdvanceBody>;
  freeze(): Promise<ClockBody>;
  reset(): Promise<ClockBody>;
  post(action: 'advance' | 'freeze' | 'resume' | 'reset', body?: unknown, call?: Call): Promise<Answer>;
}

export function clockApi(client: ApiClient): ClockApi {
  const self: ClockApi = {
    read: async () => expectOk(await client.get(clock)) as ClockBody,
    post: (action, body, call) => client.post(`${clock}/${action}`, body, call),
    advance: async (by) => expectOk(await self.post('advance', by)) as AdvanceBody,
    advanceTo: (instant) => self.advance({ to: isoTime(instant) }),
    freeze: async () => expectOk(await self.post('freeze')) as ClockBody,
    reset: async () => expectOk(await self.post('reset')) as ClockBody,
  };
  return self;
}

/** When each timer of an organization is due, by record id. */
export async function timersOf(server: Server, orgId: string): Promise<Readonly<Record<string, string>>> {
  const sql = 'select id, due_at as "dueAt" from timers where org_id = $1 order by id';
  const rows = await queryRows<{ id: string; dueAt: number }>(server, sql, [orgId]);
  return Object.fromEntries(rows.map(({ id, dueAt }) => [id, isoTime(dueAt)]));
}

/** The state changes that a request caused according to the history, in the format of `happened`. */
export async function effectsOf(
  server: Server,
  orgId: string,
  requestId: string,
): Promise<readonly Effect[]> {
  const sql = `select h.at, h.resource as type, h.resource_id as id, h.action, h.from_status as "from", h.to_status as "to",
      e.type as event
    from state_history h join events e on e.org_id = h.org_id and e.id = h.event_id
    where h.org_id = $1 and h.request_id = $2 order by h.event_id`;
  const rows = await queryRows<Omit<Effect, 'at' | 'from'> & { at: number; from: string | null }>(
    server,
    sql,
    [orgId, requestId],
  );
  return rows.map(({ at, from, ...rest }) => ({
    at: isoTime(at),
    ...(from === null ? {} : { from }),
    ...rest,
  }));
}

export function expectTimeOrder(happened: readonly Effect[]): void {
  const instants = happened.map(({ at }) => at);
  expect(instants).toEqual(instants.toSorted());
}
