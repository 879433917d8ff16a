/** The calls of a clock, in the words of its tests, and what can be seen of timers only in the database. */
import { randomUUID } from 'node:crypto';
import type { FastifyInstance } from 'fastify';
import { expect } from 'vitest';
import { newSuffix } from '../../src/engine/ids.ts';
import type { Answer as Outcome, Submission } from '../../src/engine/submission.ts';
import { claim } from '../../src/http/idempotency.ts';
import type { CommandKind } from '../../src/kernel/command.ts';
import { formatId } from '../../src/kernel/ids.ts';
import { defaultTerms } from '../../src/kernel/terms.ts';
import { type BeginAdvance, beginAdvance, type ClockRow } from '../../src/resources/clocks/machine.ts';
import { findClock } from '../../src/resources/clocks/store.ts';
import { type FireTimers, fireTimers } from '../../src/resources/timers/machine.ts';
import type { Server } from '../../src/server.ts';
import type { Answer, ApiClient, Body, Call } from '../support/api-client.ts';
import type { KeyHolder, KeySettings, Tenant } from '../support/tenant.ts';
import { tenant } from '../support/tenant.ts';
import { done, type Lifecycle, lifecycle } from './lifecycle.ts';

export const clock = 'developer_api_clock';
export const secondMs = 1_000;
export const hourMs = 3_600_000;
export const dayMs = 24 * hourMs;

/** Where the wall clock of these tests stands unless told: a Tuesday morning that real time has not reached. */
export const start = Date.parse('2031-03-04T10:00:00.000Z');

export function text(instant: number): string {
  return new Date(instant).toISOString();
}

export interface Happening {
  readonly at: string;
  readonly type: string;
  readonly id: string;
  readonly action: string;
  readonly from?: string;
  readonly to?: string;
  readonly event?: string;
}

export interface Face extends Body {
  readonly now: string;
  readonly offsetSeconds: number;
}

export interface Advanced extends Face {
  readonly complete: boolean;
  readonly left?: { readonly timers: number; readonly nextAt: string; readonly to: string };
  readonly happened: readonly Happening[];
}

export interface Clockwork {
  read(): Promise<Face>;
  /** Insists that it was done. */
  advance(by: { seconds: number } | { to: string }): Promise<Advanced>;
  to(instant: number): Promise<Advanced>;
  freeze(): Promise<Face>;
  reset(): Promise<Face>;
  ask(what: 'advance' | 'freeze' | 'reset', body?: unknown, call?: Call): Promise<Answer>;
}

export function clockwork(client: ApiClient): Clockwork {
  const self: Clockwork = {
    read: async () => done(await client.get(clock)) as Face,
    ask: (what, body, call) => client.post(`${clock}/${what}`, body, call),
    advance: async (by) => done(await self.ask('advance', by)) as Advanced,
    to: (instant) => self.advance({ to: text(instant) }),
    freeze: async () => done(await self.ask('freeze')) as Face,
    reset: async () => done(await self.ask('reset')) as Face,
  };
  return self;
}

/** An organization of one test, with its calls. */
export interface Shop extends Tenant {
  readonly life: Lifecycle;
  readonly time: Clockwork;
}

export async function openShop(
  server: Server,
  app: FastifyInstance,
  settings: KeySettings = {},
): Promise<Shop> {
  const holder = await tenant(server, settings);
  const client = holder.clientOn(app);
  return { ...holder, client, life: lifecycle(client), time: clockwork(client) };
}

export function rowsOf<Row>(
  server: Server,
  sql: string,
  values: readonly unknown[],
): Promise<readonly Row[]> {
  return server.database.query<Row>({ name: '', text: sql }, values);
}

/** The timers of an organization, by record. */
export async function timersOf(server: Server, orgId: string): Promise<Readonly<Record<string, string>>> {
  const sql = 'select id, due_at as "dueAt" from timers where org_id = $1 order by id';
  const rows = await rowsOf<{ id: string; dueAt: number }>(server, sql, [orgId]);
  return Object.fromEntries(rows.map(({ id, dueAt }) => [id, text(dueAt)]));
}

/** What the history says that a request has moved, in the words of `happened`. */
export async function movedBy(
  server: Server,
  orgId: string,
  requestId: string,
): Promise<readonly Happening[]> {
  const sql = `select h.at, h.resource as type, h.resource_id as id, h.action, h.from_status as "from", h.to_status as "to",
      e.type as event
    from state_history h join events e on e.org_id = h.org_id and e.id = h.event_id
    where h.org_id = $1 and h.request_id = $2 order by h.event_id`;
  const rows = await rowsOf<Omit<Happening, 'at' | 'from'> & { at: number; from: string | null }>(
    server,
    sql,
    [orgId, requestId],
  );
  return rows.map(({ at, from, ...rest }) => ({ at: text(at), ...(from === null ? {} : { from }), ...rest }));
}

export function expectSorted(happened: readonly Happening[]): void {
  const instants = happened.map(({ at }) => at);
  expect(instants).toEqual(instants.toSorted());
}

/** A command in the name of a key, past HTTP. */
export function submissionOf<Input>(
  { orgId, appId, keyId }: KeyHolder,
  kind: CommandKind<Input>,
  input: Input,
  more: { wallNow: number; requestId?: string; idempotency?: Submission['idempotency'] },
): Submission {
  const suffix = newSuffix();
  const { wallNow, requestId = formatId('request', suffix), idempotency = null } = more;
  return {
    kind,
    input,
    idempotency,
    wallNow,
    context: {
      ...{ orgId, appId, suffix, requestId, ip: null, terms: defaultTerms },
      actor: { kind: 'api_key', id: keyId },
    },
  };
}

/** An advance that was begun by a process which does nothing more unless told. */
export interface Abandoned {
  readonly idempotencyKey: string;
  readonly requestId: string;
  readonly body: { readonly seconds: number };
  /** One round in its name. */
  fire(ids: readonly string[], round?: Partial<FireTimers>): Promise<Outcome>;
  clock(): Promise<ClockRow>;
}

export async function abandonAdvance(
  server: Server,
  holder: KeyHolder,
  seconds: number,
  wallNow: number,
): Promise<Abandoned> {
  const body = { seconds };
  const key = randomUUID();
  const idempotency = claim(key, 'POST', `/_api/${clock}/advance`, body);
  const input: BeginAdvance = {
    by: body,
    key,
    fingerprint: Buffer.from(idempotency.fingerprint).toString('base64'),
  };
  const submission = submissionOf(holder, beginAdvance, input, { wallNow, idempotency });
  const begun = await server.engine.submit(submission);
  expect(begun.code, begun.body).toBeNull();
  const { requestId } = submission.context;
  return {
    idempotencyKey: key,
    requestId,
    body,
    fire: (ids, round = {}) => {
      const timers = ids.map((id) => ({ resource: id.startsWith('dsp_') ? 'dispute' : 'payment', id }));
      const stepsMax = 64;
      const suffixes = Array.from({ length: stepsMax }, newSuffix);
      const fired = { timers, until: wallNow + seconds * secondMs, stepsMax, turn: 1, suffixes, ...round };
      return server.engine.submit(submissionOf(holder, fireTimers, fired, { wallNow, requestId }));
    },
    clock: async () => findClock(server.reader, holder, wallNow),
  };
}
