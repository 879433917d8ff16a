import { createHmac, randomInt, randomUUID } from 'node:crypto';
import type { FastifyInstance } from 'fastify';
import type { Id } from '../../src/kernel/ids.ts';
import type { Role } from '../../src/kernel/permissions.ts';
import { selectList } from '../../src/kernel/table.ts';
import { type AuditRow, auditTable } from '../../src/resources/audit/table.ts';
import { type HistoryRow, historyTable } from '../../src/resources/history/table.ts';
import { memberIdOf } from '../../src/resources/organizations/member-machine.ts';
import type { Server } from '../../src/server.ts';
import { type Answer, type Body, expectEnvelope, seenCodes } from './api-client.ts';

export const goodPassword = 'correct horse battery';

/**
 * A browser: stores cookies and sends origin headers. Each visitor has its own IP address, because the server limits sign-in attempts
 * by address.
 */
export class Visitor {
  readonly #app: FastifyInstance;
  readonly #cookies: Map<string, string>;
  /** Headers of every request; a test may replace them. */
  headers: Record<string, string> = { host: 'sandbank.test', 'sec-fetch-site': 'same-origin' };
  address = `10.${randomInt(256)}.${randomInt(256)}.${randomInt(1, 255)}`;
  /** All Set-Cookie lines of the last response. */
  setCookies: readonly string[] = [];

  constructor(app: FastifyInstance, cookies: ReadonlyMap<string, string> = new Map()) {
    this.#app = app;
    this.#cookies = new Map(cookies);
  }

  get cookies(): ReadonlyMap<string, string> {
    return this.#cookies;
  }

  /** The same browser with another app: another node, or one with another clock. */
  at(app: FastifyInstance): Visitor {
    const visitor = new Visitor(app, this.#cookies);
    visitor.headers = { ...this.headers };
    visitor.address = this.address;
    return visitor;
  }

  /** Another browser with the same cookies. */
  copy(): Visitor {
    return this.at(this.#app);
  }

  get(path: string, headers: Record<string, string> = {}): Promise<Answer> {
    return this.send('GET', path, undefined, headers);
  }

  post(path: string, body: unknown = {}, headers: Record<string, string> = {}): Promise<Answer> {
    return this.send('POST', path, body, { 'idempotency-key': randomUUID(), ...headers });
  }

  /** Checks the guarantees for every response. */
  async send(
    method: 'GET' | 'POST',
    path: string,
    payload: unknown,
    headers: Record<string, string>,
  ): Promise<Answer> {
    const cookie = [...this.#cookies].map(([name, value]) => `${name}=${value}`).join('; ');
    const response = await this.#app.inject({
      method,
      url: `/console/api/${path}`,
      remoteAddress: this.address,
      headers: {
        ...this.headers,
        ...(cookie === '' ? {} : { cookie }),
        ...(payload === undefined ? {} : { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(payload === undefined ? {} : { payload: JSON.stringify(payload) }),
    });
    this.#storeCookies(response.headers['set-cookie'] ?? []);
    const body = JSON.parse(response.body) as Body;
    const answer = {
      status: response.statusCode,
      headers: response.headers as Answer['headers'],
      text: response.body,
    };
    expectEnvelope(answer, body);
    const code = body.object === 'error' ? body.error.code : null;
    if (code !== null) seenCodes.add(code);
    return { ...answer, body, code };
  }

  #storeCookies(header: string | readonly string[]): void {
    this.setCookies = typeof header === 'string' ? [header] : header;
    for (const line of this.setCookies) {
      const [pair = ''] = line.split(';');
      const at = pair.indexOf('=');
      if (/max-age=0/i.test(line) || at === pair.length - 1) this.#cookies.delete(pair.slice(0, at));
      else this.#cookies.set(pair.slice(0, at), pair.slice(at + 1));
    }
  }
}

export type Person = Visitor & {
  readonly email: string;
  readonly personId: string;
  /** The id of the person's memberships, the same in every organization. */
  readonly memberId: string;
};

/** Signs up a new person; with an invitation also where registration is closed. */
export async function newPerson(
  { app }: { readonly app: FastifyInstance },
  name = 'Ada',
  more: { readonly email?: string; readonly invitation?: string } = {},
): Promise<Person> {
  const visitor = new Visitor(app);
  const email = more.email ?? `${name.toLowerCase()}-${randomUUID()}@example.test`;
  const signUp = { name, password: goodPassword, ...more, email };
  const { person } = ok(await visitor.post('session/sign_up', signUp));
  const { id } = person as { id: Id<'person'> };
  return Object.assign(visitor, { email, personId: id, memberId: memberIdOf(id) });
}

/** Throws if the response is an error; returns its body. */
export function ok(answer: Answer): Body {
  if (answer.status >= 300) throw new Error(answer.text);
  return answer.body;
}

export async function createOrganization(person: Visitor, name = 'Acme'): Promise<string> {
  return ok(await person.post('session/organizations', { name })).id;
}

export async function createApplication(person: Visitor, orgId: string, name = 'web'): Promise<string> {
  return ok(await person.post(`${orgId}/applications`, { name })).id;
}

/** Creates an invitation; the token is the last segment of its link. */
export async function invite(
  by: Visitor,
  orgId: string,
  role: Role,
  email?: string,
): Promise<{ readonly id: string; readonly token: string }> {
  const body = email === undefined ? { role } : { role, email };
  const { id, url } = ok(await by.post(`${orgId}/invitations`, body));
  return { id, token: tokenOf(url) };
}

export function tokenOf(url: unknown): string {
  return String(url).split('/').at(-1) ?? '';
}

/** Makes a person a member, also again after a removal. */
export async function join(person: Visitor, by: Visitor, orgId: string, role: Role): Promise<void> {
  const { token } = await invite(by, orgId, role);
  ok(await person.post(`session/invitations/${token}/accept`));
}

/** An organization with an application, and one member of each role. */
export interface Team {
  readonly orgId: string;
  readonly appId: string;
  readonly owner: Person;
  readonly admin: Person;
  readonly developer: Person;
  readonly viewer: Person;
}

export async function createTeam(server: { readonly app: FastifyInstance }): Promise<Team> {
  const [owner, admin, developer, viewer] = await Promise.all([
    newPerson(server, 'Olga'),
    newPerson(server, 'Adam'),
    newPerson(server, 'Dora'),
    newPerson(server, 'Vera'),
  ]);
  const orgId = await createOrganization(owner, `Team ${randomUUID()}`);
  const appId = await createApplication(owner, orgId);
  await join(admin, owner, orgId, 'admin');
  await join(developer, owner, orgId, 'developer');
  await join(viewer, owner, orgId, 'viewer');
  return { orgId, appId, owner, admin, developer, viewer };
}

export function auditOf(
  { database }: Pick<Server, 'database'>,
  { headers }: Answer,
): Promise<readonly AuditRow[]> {
  const text = `select ${selectList(auditTable, 'a')} from audit a where request_id = $1 order by id`;
  return database.query<AuditRow>({ name: '', text }, [headers['request-id']]);
}

export function historyOf(
  { database }: Pick<Server, 'database'>,
  orgId: string,
  id: string,
): Promise<readonly HistoryRow[]> {
  const text = `select ${selectList(historyTable, 'h')} from state_history h
    where org_id = $1 and resource_id = $2 order by version`;
  return database.query<HistoryRow>({ name: '', text }, [orgId, id]);
}

/**
 * Row counts of all tables except the audit trail, the security history, the sign-in budgets and the tables that background workers
 * write. Timers of other tests on the same server change records meanwhile, so what a timer wrote does not count either.
 */
export async function countsOf({ database }: Pick<Server, 'database'>): Promise<Record<string, number>> {
  countRows ??= await countStatement(database);
  const rows = await database.query<{ name: string; n: number }>({ name: '', text: countRows }, []);
  return Object.fromEntries(rows.map(({ name, n }) => [name, n]));
}

/** Cached, because all databases of a run have the same tables. */
let countRows: string | undefined;

async function countStatement(database: Server['database']): Promise<string> {
  const tables = await database.query<{ name: string; hasRequest: boolean }>(
    {
      name: '',
      text: `select tablename as name, exists (select 1 from information_schema.columns c
          where c.table_schema = 'public' and c.table_name = tablename and c.column_name = 'request_id') as "hasRequest"
        from pg_tables where schemaname = 'public' order by 1`,
    },
    [],
  );
  const excluded =
    /^(account_events|audit.*|coverage|sign_in_tries|request.*|api_key_uses|.*deliver.*|.*seal.*|announced.*|timers|webhook_health|ledger_balances)$/;
  const byTimers = `from state_history where actor_kind = 'system'`;
  const where = (name: string, hasRequest: boolean) => {
    if (hasRequest) return `where request_id not in (select request_id ${byTimers})`;
    // A timer opens the dispute that a scenario asks for.
    return name === 'disputes'
      ? `where id not in (select resource_id ${byTimers} and from_status is null)`
      : '';
  };
  return tables
    .filter(({ name }) => !excluded.test(name))
    .map(
      ({ name, hasRequest }) =>
        `select '${name}' as name, count(*)::integer as n from ${name} ${where(name, hasRequest)}`,
    )
    .join(' union all ');
}

const base32 = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567';
const stepSeconds = 30;

/** The code of an authenticator: RFC 6238 with six digits, independent of the library under test. */
export function totp(secret: string, atMs = Date.now()): string {
  const bits = [...secret.replaceAll('=', '')].map((one) => base32.indexOf(one).toString(2).padStart(5, '0'));
  const bytes = bits.join('').match(/.{8}/g) ?? [];
  const counter = Buffer.alloc(8);
  counter.writeBigUInt64BE(BigInt(Math.floor(atMs / 1000 / stepSeconds)));
  const mac = createHmac('sha1', Buffer.from(bytes.map((byte) => Number.parseInt(byte, 2))))
    .update(counter)
    .digest();
  const offset = (mac.at(-1) ?? 0) & 0x0f;
  const number = mac.readUInt32BE(offset) & 0x7fff_ffff;
  return String(number % 1_000_000).padStart(6, '0');
}
