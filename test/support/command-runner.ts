import {
  auditRow,
  balanceRows,
  eventRow,
  historyRow,
  ledgerEntryRows,
  providerEventRows,
  settlementLineRows,
} from '../../src/engine/derive.ts';
import { refusalAnswer } from '../../src/engine/submission.ts';
import { type Check, compileBody } from '../../src/http/validate.ts';
import {
  type ApplicationSettings,
  defaultApplicationSettings,
} from '../../src/kernel/application-settings.ts';
import { assert } from '../../src/kernel/assert.ts';
import type {
  Accepted,
  Actor,
  AnyResource,
  Change,
  CommandContext,
  CommandKind,
  LoadedRows,
  Read,
  RequestContext,
  StatefulRow,
  Submission,
} from '../../src/kernel/command.ts';
import { successStatus } from '../../src/kernel/envelope.ts';
import type { ErrorCode, Refusal } from '../../src/kernel/errors.ts';
import type { EventRow } from '../../src/kernel/event.ts';
import { encodeSuffix, formatId, type IdKind } from '../../src/kernel/ids.ts';
import { scopes } from '../../src/kernel/permissions.ts';
import type { ApiWriteRoute } from '../../src/kernel/route.ts';
import { strict } from '../../src/kernel/schema.ts';
import type { AnyRow, Instant } from '../../src/kernel/table.ts';
import { clockIdOf, clockNow } from '../../src/kernel/time.ts';
import { providers } from '../../src/provider/index.ts';
import type { AuditRow } from '../../src/resources/audit/table.ts';
import {
  type BeginAdvance,
  beginAdvance,
  clockFace,
  type Effect,
  finishAdvance,
  realClock,
} from '../../src/resources/clocks/machine.ts';
import type { ClockRow } from '../../src/resources/clocks/table.ts';
import { type FireTimers, fireTimers } from '../../src/resources/clocks/timer-commands.ts';
import type { ProviderEventRow } from '../../src/resources/history/provider-event-table.ts';
import type { HistoryRow } from '../../src/resources/history/table.ts';
import { resources, routes } from '../../src/resources/index.ts';
import type { LedgerEntryRow } from '../../src/resources/ledger/table.ts';
import type { SettlementLineRow } from '../../src/resources/settlements/table.ts';
import type { Body } from './api-client.ts';

export { expectOk } from './api-client.ts';

/** Everything that the commands run so far have written, oldest first. */
export interface Written {
  readonly history: readonly HistoryRow[];
  readonly events: readonly EventRow[];
  readonly entries: readonly LedgerEntryRow[];
  readonly providerEvents: readonly ProviderEventRow[];
  readonly settlementLines: readonly SettlementLineRow[];
  readonly audit: readonly AuditRow[];
}

export interface Response<Result = unknown> {
  readonly status: number;
  readonly code: ErrorCode | null;
  readonly text: string;
  readonly body: Body;
  /** The typed result of an accepted command. */
  readonly result?: Result | undefined;
}

export interface RunnerOptions {
  readonly now?: Instant;
  /** The application settings; the defaults where absent. */
  readonly settings?: Partial<ApplicationSettings>;
  readonly actor?: Actor;
}

const start: Instant = Date.parse('2026-11-16T09:00:00.000Z');
const byName: ReadonlyMap<string, AnyResource> = new Map(resources.map((one) => [one.name, one]));

/**
 * Runs commands on rows in memory: no server, no database, less than a millisecond each. It declares reads, makes decisions and
 * derives side rows with the functions of the engine; only loading and writing are replaced by maps.
 *
 *     const runner = new CommandRunner();
 *     const payment = runner.post('developer_api_payments', { amount: 1250, currency: 'EUR' }).body;
 *     runner.post(`developer_api_payments/${payment.id}/advance`, { to: 'settled' });
 *     expect(runner.written.events.map(({ type }) => type)).toEqual([...]);
 *
 * `fork()` copies the state, so that a situation is reached once and tried with many commands.
 */
export class CommandRunner {
  readonly orgId = formatId('organization', suffixAt(start, 1));
  readonly appId = formatId('application', suffixAt(start, 2));
  readonly actor: Actor;
  /** The application settings of the next commands. */
  settings: ApplicationSettings;
  /** The real time; the application clock follows from it. */
  wallNow: Instant;
  #rows: Map<string, AnyRow>;
  #balances: Map<string, bigint>;
  #written: { [Kind in keyof Written]: Written[Kind][number][] };
  #commands = 0;
  #ids = 0;

  constructor({ now = start, settings = {}, actor }: RunnerOptions = {}) {
    this.wallNow = now;
    this.settings = { ...defaultApplicationSettings, ...settings };
    this.actor = actor ?? { kind: 'api_key', id: formatId('api_key', suffixAt(start, 3)) };
    this.#rows = new Map();
    this.#balances = new Map();
    this.#written = {
      history: [],
      events: [],
      entries: [],
      providerEvents: [],
      settlementLines: [],
      audit: [],
    };
  }

  get written(): Written {
    return this.#written;
  }

  /** The time by the application clock. */
  get now(): Instant {
    return clockNow(this.row<ClockRow>(clockIdOf(this.appId)), this.wallNow);
  }

  /** The application clock as a GET shows it. */
  get clock(): ReturnType<typeof clockFace> {
    const row = this.row<ClockRow>(clockIdOf(this.appId));
    return clockFace(row ?? realClock(this.orgId, this.appId, this.wallNow), this.wallNow);
  }

  /** When each record that has a timer is due, by its id. */
  get timers(): Readonly<Record<string, string>> {
    return Object.fromEntries(this.#dueUntil(Infinity).map(({ id, at }) => [id, new Date(at).toISOString()]));
  }

  /** A copy, with other application settings where given. */
  fork(settings: Partial<ApplicationSettings> = {}): CommandRunner {
    const copy = new CommandRunner({
      ...{ now: this.wallNow, actor: this.actor },
      settings: { ...this.settings, ...settings },
    });
    copy.#rows = new Map(this.#rows);
    copy.#balances = new Map(this.#balances);
    copy.#written = {
      history: [...this.#written.history],
      events: [...this.#written.events],
      entries: [...this.#written.entries],
      providerEvents: [...this.#written.providerEvents],
      settlementLines: [...this.#written.settlementLines],
      audit: [...this.#written.audit],
    };
    copy.#commands = this.#commands;
    copy.#ids = this.#ids;
    return copy;
  }

  row<Row extends AnyRow>(id: string): Row | undefined {
    return this.#rows.get(id) as Row | undefined;
  }

  rows<Row extends AnyRow>(resource: IdKind): readonly Row[] {
    const isOne = (row: AnyRow) => row.id.startsWith(formatId(resource, ''));
    return [...this.#rows.values()].filter(isOne) as readonly AnyRow[] as readonly Row[];
  }

  /** Stores rows directly, for tests that start from existing rows. */
  given(...rows: readonly AnyRow[]): this {
    for (const row of rows) this.#rows.set(row.id, row);
    return this;
  }

  balance(account: string, currency: string): bigint {
    return this.#balances.get(`${account} ${currency}`) ?? 0n;
  }

  /** The balances that one payment or transfer has posted and that are not zero, by account and currency: `bank EUR`. */
  balancesOf(recordId: string): Readonly<Record<string, number>> {
    const sums = new Map<string, number>();
    for (const { paymentId, transferId, postings } of this.#written.entries) {
      if (paymentId !== recordId && transferId !== recordId) continue;
      for (const { account, currency, amount } of postings) {
        const key = `${account} ${currency}`;
        sums.set(key, (sums.get(key) ?? 0) + Number(amount));
      }
    }
    return Object.fromEntries([...sums].filter(([, amount]) => amount !== 0));
  }

  /** A record as a GET shows it. */
  show(id: string): Body {
    const row = this.#rows.get(id);
    const resource = resources.find(({ name }) => id.startsWith(formatId(name, '')));
    assert(row && resource, `${id} does not exist`);
    return JSON.parse(JSON.stringify(resource.present(row))) as Body;
  }

  /** A write of the API, by its path below `/_api/`: the route validates the body and builds the command. */
  post(path: string, body: unknown = {}): Response {
    const { route, params } = findRoute(path);
    const refusal = checkOf(route)(body);
    if (refusal) return this.#refused(refusal, this.#request());
    const principal = {
      ...{ orgId: this.orgId, appId: this.appId, actor: this.actor, terms: this.settings },
      ...{ scopes: [...scopes], allowedCidrs: [], expiresAt: null },
    };
    const input = route.input({ principal: principal as never, params, body });
    if (route.command === beginAdvance) return this.#advanceClock(input as BeginAdvance['by']);
    return this.run(route.command, input);
  }

  /** Runs one command, as if it were alone in its batch. */
  run<Input, Result>(kind: CommandKind<Input, Result>, input: Input): Response<Result> {
    return this.#run(kind, input, this.#request());
  }

  #run<Input, Result>(
    kind: CommandKind<Input, Result>,
    input: Input,
    request: RequestContext,
  ): Response<Result> {
    const submission: Submission = {
      kind,
      input,
      context: request,
      idempotency: null,
      wallNow: this.wallNow,
    };
    const context: CommandContext = { ...request, now: this.now, wallNow: this.wallNow };
    const declared = new Set<string>();
    const loaded = this.#loaded(kind.name, declared);
    const declare = (reads: readonly Read[]) => {
      for (const read of reads)
        declared.add('balance' in read ? `${read.balance} ${read.currency}` : read.id);
    };
    declare(kind.reads(input, request));
    declare(kind.thenReads?.(input, loaded) ?? []);
    const decision = kind.authorize?.(input, context, loaded) ?? kind.decide(input, context, loaded);
    if (!decision.ok) {
      this.#written.audit.push(auditRow(submission, null, decision.code));
      return this.#refused(decision, request);
    }
    this.#write(decision, submission);
    return this.#respond(kind, decision, request);
  }

  /** Moves real time forward and fires every timer that becomes due, in the order of their instants. */
  advance(ms: number): Response {
    this.wallNow += ms;
    return this.run(fireTimers, this.#round(this.now, null, 200));
  }

  /** An advance without bounds and deliveries: begin, rounds of timers until none is due, finish. */
  #advanceClock(by: BeginAdvance['by']): Response {
    const request = this.#request();
    const begun = this.#run(beginAdvance, { by, key: 'key', fingerprint: '' }, request);
    if (begun.code !== null) return begun;
    assert(begun.result, begun.text);
    const { to, turn } = begun.result;
    const happened: Effect[] = [];
    while (this.#dueUntil(to).length > 0) {
      const fired = this.#run(fireTimers, this.#round(to, turn, 1_000), request);
      assert(fired.result, fired.text);
      happened.push(...fired.result.happened);
    }
    const [first] = this.#dueUntil(Number.MAX_SAFE_INTEGER).toSorted((a, b) => a.at - b.at);
    const next = first === undefined ? null : { at: first.at, type: first.resource, id: first.id };
    return this.#run(finishAdvance, { turn, happened, left: null, next, hasArrived: true }, request);
  }

  #dueUntil(until: Instant) {
    return [...this.#rows.values()].flatMap((row) => {
      const resource = resources.find(({ name }) => row.id.startsWith(formatId(name, '')));
      const due = resource?.due?.(row);
      return resource && due && due.at <= until ? [{ resource: resource.name, id: row.id, at: due.at }] : [];
    });
  }

  #round(until: Instant, turn: number | null, most: number): FireTimers {
    const timers = this.#dueUntil(until);
    const stepsMax = timers.length === 0 ? 0 : most;
    const suffixes = Array.from({ length: stepsMax }, () => this.#suffix());
    return { timers, until, stepsMax, turn, suffixes };
  }

  #suffix(): string {
    this.#ids += 1;
    return suffixAt(this.wallNow, this.#ids + 3);
  }

  #request(): RequestContext {
    this.#commands += 1;
    const suffix = this.#suffix();
    return {
      orgId: this.orgId,
      appId: this.appId,
      actor: this.actor,
      requestId: formatId('request', suffix),
      ip: null,
      settings: this.settings,
      suffix,
    };
  }

  #loaded(name: string, declared: ReadonlySet<string>): LoadedRows {
    return {
      get: <Row>(resource: IdKind, id: string) => {
        assert(declared.has(id), `${name} reads ${resource} ${id}, which it did not declare`);
        return this.#rows.get(id) as Row | undefined;
      },
      balance: (account, currency) => {
        assert(
          declared.has(`${account} ${currency}`),
          `${name} reads the balance of ${account}, which it did not declare`,
        );
        return this.balance(account, currency);
      },
    };
  }

  #write({ changes, events = [], answer }: Accepted<unknown>, submission: Submission): void {
    const { context } = submission;
    const nextSuffix = () => this.#suffix();
    for (const { account, currency, balance } of balanceRows(changes)) {
      this.#balances.set(`${account} ${currency}`, this.balance(account, currency) + balance);
    }
    for (const change of changes) {
      assert(
        change.row.orgId === this.orgId,
        `${submission.kind.name} changes a row of another organization`,
      );
      this.#rows.set(change.row.id, change.row);
      const event = this.#event(context, change);
      this.#written.history.push(historyRow(context, change, event?.id ?? null));
      if (event) this.#written.events.push(event);
      this.#written.entries.push(...ledgerEntryRows(context, change, nextSuffix));
      this.#written.providerEvents.push(...providerEventRows(context, change, providers, nextSuffix));
      this.#written.settlementLines.push(...settlementLineRows(context, change, providers, nextSuffix));
    }
    this.#written.events.push(...events);
    this.#written.audit.push(auditRow(submission, { resource: answer.resource, id: answer.row.id }, null));
  }

  #event(context: RequestContext, change: Change): EventRow | undefined {
    const resource = resourceOf(change.resource);
    const { appId } = change.row;
    if (!resource.emitsEvents || change.emitsNoEvent || appId === undefined) return undefined;
    const data = JSON.stringify(resource.present(change.row));
    return eventRow(context, change, formatId('event', this.#suffix()), appId, data);
  }

  #respond<Input, Result>(
    kind: CommandKind<Input, Result>,
    { answer, fields, result }: Accepted<Result>,
    { requestId }: RequestContext,
  ): Response<Result> {
    const shown = answer.shown ?? resourceOf(answer.resource).present(answer.row as StatefulRow);
    const text = JSON.stringify({ ...shown, requestId, ...fields });
    return { status: successStatus[kind.success], code: null, text, body: JSON.parse(text) as Body, result };
  }

  #refused(refusal: Refusal, { requestId }: RequestContext): Response<never> {
    const { status, body: text, code } = refusalAnswer(refusal, requestId, '/docs');
    return { status, code, text, body: JSON.parse(text) as Body };
  }
}

function resourceOf(name: string): AnyResource {
  const resource = byName.get(name);
  assert(resource, `${name} is not in the list of resources`);
  return resource;
}

const checks = new Map<ApiWriteRoute, Check>();

function checkOf(route: ApiWriteRoute): Check {
  let check = checks.get(route);
  if (!check) {
    check = compileBody(route.body ?? strict({}));
    checks.set(route, check);
  }
  return check;
}

const patterns = routes.flatMap((route) =>
  route.method === 'POST'
    ? [{ route, pattern: new RegExp(`^${route.path.replace(/\{(\w+)\}/g, '(?<$1>[^/]+)')}$`) }]
    : [],
);

function findRoute(path: string): { route: ApiWriteRoute; params: Readonly<Record<string, string>> } {
  for (const { route, pattern } of patterns) {
    const match = pattern.exec(path);
    if (match) return { route, params: { ...match.groups } };
  }
  throw new Error(`POST ${path} is not a route`);
}

/** A UUIDv7 suffix of that time whose random bits are a counter. */
function suffixAt(at: Instant, count: number): string {
  const bytes = new DataView(new ArrayBuffer(16));
  bytes.setBigUint64(0, (BigInt(at) << 16n) | 0x7000n);
  bytes.setBigUint64(8, (0x8000n << 48n) | BigInt(count));
  return encodeSuffix(new Uint8Array(bytes.buffer));
}
