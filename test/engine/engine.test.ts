import { hash, randomUUID } from 'node:crypto';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import type { Database } from '../../src/db/database.ts';
import { openPostgres } from '../../src/db/postgres.ts';
import { pendingStatus } from '../../src/engine/answers.ts';
import type { Engine, EngineSettings } from '../../src/engine/engine.ts';
import { newSuffix } from '../../src/engine/ids.ts';
import { unmeasured } from '../../src/http/metrics.ts';
import { defaultApplicationSettings } from '../../src/kernel/application-settings.ts';
import {
  type Answer,
  accepted,
  type CommandContext,
  type CommandKind,
  change,
} from '../../src/kernel/command.ts';
import { formatId, type Id } from '../../src/kernel/ids.ts';
import {
  archiveCustomer,
  type CustomerFields,
  createCustomer,
  updateCustomer,
} from '../../src/resources/customers/machine.ts';
import type { CustomerRow } from '../../src/resources/customers/table.ts';
import { type CreatePayment, createPayment, paymentMachine } from '../../src/resources/payments/machine.ts';
import type { PaymentRow } from '../../src/resources/payments/table.ts';
import type { Server } from '../../src/server.ts';
import { migratedDatabase } from '../support/postgres.ts';
import { databaseKinds, openEngine, openServer } from '../support/server.ts';
import { type Tenant, tenant } from '../support/tenant.ts';
import { usual } from './submitting.ts';

const payment: CreatePayment = { ...usual, amount: 1250n };
const ada: CustomerFields = { name: 'Ada', email: null, phone: null, reference: null, metadata: {} };
const dayMs = 24 * 3_600_000;

describe.each(databaseKinds)('the engine on %s', (kind) => {
  let server: Server;
  let databaseUrl: string | undefined;
  let acme: Tenant;

  beforeAll(async () => {
    databaseUrl = kind === 'postgres' ? await migratedDatabase(inject('postgresUrl')) : undefined;
    server = await openServer(kind, { databaseUrl });
    acme = await tenant(server);
  });
  afterAll(() => server?.close());

  /** A separate engine that records batch sizes, retries and bugs. */
  function observed(settings: Partial<EngineSettings> = {}, database: Database = server.database) {
    const sizes: number[] = [];
    const retries: string[] = [];
    const bugs: string[] = [];
    const engine = openEngine(database, {
      metrics: {
        ...unmeasured,
        batch: (size) => sizes.push(size),
        retry: (reason) => retries.push(reason),
      },
      onBug: (error) => bugs.push(String(error)),
      ...settings,
    });
    return { engine, sizes, retries, bugs };
  }

  interface Sent {
    readonly key?: string | null;
    readonly suffix?: string;
    readonly wallNow?: number;
  }

  function submit<Input>(
    engine: Engine,
    command: CommandKind<Input>,
    input: Input,
    sent: Sent = {},
  ): Promise<Answer> {
    const { key = randomUUID(), suffix = newSuffix(), wallNow = Date.now() } = sent;
    return engine.submit({
      kind: command,
      input,
      idempotency: key === null ? null : { key, fingerprint: fingerprint(command.name, input) },
      wallNow,
      context: {
        orgId: acme.orgId,
        appId: acme.appId,
        settings: defaultApplicationSettings,
        actor: { kind: 'api_key', id: acme.keyId },
        requestId: formatId('request', suffix),
        ip: null,
        suffix,
      },
    });
  }

  const pay = (engine: Engine, sent: Sent = {}, input: Partial<CreatePayment> = {}) =>
    submit(engine, createPayment, { ...payment, ...input }, sent);

  async function count(table: string, condition = 'true', values: readonly unknown[] = []): Promise<number> {
    const text = `select count(*)::integer as n from ${table} where org_id = $1 and ${condition}`;
    const [row] = await server.database.query<{ n: number }>({ name: '', text }, [acme.orgId, ...values]);
    return row?.n ?? -1;
  }

  async function newCustomer(): Promise<Id<'customer'>> {
    const suffix = newSuffix();
    await submit(server.engine, createCustomer, ada, { suffix });
    return formatId('customer', suffix);
  }

  const customerRow = async (id: string): Promise<CustomerRow | undefined> => {
    const text = 'select status, version, reference from customers where org_id = $1 and id = $2';
    const [row] = await server.database.query<CustomerRow>({ name: '', text }, [acme.orgId, id]);
    return row;
  };

  describe('group commit', () => {
    test('a single command is a batch of one', async () => {
      const { engine, sizes } = observed();
      expect((await pay(engine)).status).toBe(201);
      expect(sizes).toEqual([1]);
    });

    test('commands submitted together are written together, in batches of at most batchMax', async () => {
      const { engine, sizes, retries } = observed();
      const before = await count('payments');
      const answers = await Promise.all(Array.from({ length: 600 }, () => pay(engine)));
      expect(answers.every(({ status }) => status === 201)).toBe(true);
      const [first, second, ...others] = sizes.toSorted((a, b) => b - a);
      expect([first, second]).toEqual([256, 256]);
      // The other 88 share two batches if the first two ended together, and these two a third one if they end fast.
      expect([[88], [44, 44], [44, 24, 20]]).toContainEqual(others);
      expect(retries).toEqual([]);
      expect(await count('payments')).toBe(before + 600);
    });

    test('commands submitted while a batch is in flight go into the next batch', async () => {
      const { engine, sizes } = observed({ batchMax: 100 });
      const first = Array.from({ length: 10 }, () => pay(engine));
      const second = first.map((answer) => answer.then(() => pay(engine)));
      await Promise.all([...first, ...second]);
      expect(sizes).toEqual([10, 10]);
    });

    test('the response shows the written row, and is sent after the commit', async () => {
      const { body } = await pay(server.engine, {}, { description: 'written' });
      const { id } = JSON.parse(body) as { id: string };
      expect(await count('payments', `id = $2 and description = 'written'`, [id])).toBe(1);
    });
  });

  describe('in one batch', () => {
    test('each command sees the effects of the previous ones', async () => {
      const { engine, sizes } = observed();
      const id = await newCustomer();
      const answers = await Promise.all([
        submit(engine, updateCustomer, { id, fields: { reference: 'first' } }),
        pay(engine, {}, { customerId: id }),
        submit(engine, updateCustomer, { id, fields: { reference: 'second' } }),
        submit(engine, archiveCustomer, { id }),
        pay(engine, {}, { customerId: id }),
        submit(engine, updateCustomer, { id, fields: { reference: 'third' } }),
      ]);
      expect(sizes).toEqual([6]);
      expect(answers.map(({ status, code }) => code ?? status)).toEqual([
        200,
        201,
        200,
        200,
        'customer_archived',
        'invalid_state_transition',
      ]);
      expect(await customerRow(id)).toEqual({ status: 'archived', version: 4, reference: 'second' });
      expect(await count('state_history', 'resource_id = $2', [id])).toBe(4);
      expect(await count('events', 'resource_id = $2', [id])).toBe(4);
    });

    test('a record can be created, updated and archived, and every step is in its history', async () => {
      const { engine, sizes } = observed();
      const suffix = newSuffix();
      const id = formatId('customer', suffix);
      const answers = await Promise.all([
        submit(engine, createCustomer, ada, { suffix }),
        submit(engine, updateCustomer, { id, fields: { reference: 'soon' } }),
        submit(engine, archiveCustomer, { id }),
      ]);
      expect(sizes).toEqual([3]);
      expect(answers.map(({ status }) => status)).toEqual([201, 200, 200]);
      expect(await customerRow(id)).toEqual({ status: 'archived', version: 3, reference: 'soon' });
      const text = `select version, from_status, to_status from state_history where org_id = $1 and resource_id = $2 order by version`;
      const history = await server.database.query({ name: '', text }, [acme.orgId, id]);
      expect(history).toEqual([
        { version: 1, from_status: null, to_status: 'active' },
        { version: 2, from_status: 'active', to_status: 'active' },
        { version: 3, from_status: 'active', to_status: 'archived' },
      ]);
    });

    test('100 identical requests create one payment and 99 replays', async () => {
      const { engine, sizes, retries } = observed();
      const before = await count('payments');
      const key = randomUUID();
      const answers = await Promise.all(Array.from({ length: 100 }, () => pay(engine, { key })));
      expect(answers.filter(({ isReplay }) => isReplay)).toHaveLength(99);
      expect(new Set(answers.map(({ body }) => body)).size).toBe(1);
      expect(await count('payments')).toBe(before + 1);
      // Half of them share the first batch; the others wait until it has answered.
      expect(sizes[0]).toBe(50);
      expect(sizes.reduce((sum, size) => sum + size, 0)).toBe(100);
      expect(retries).toEqual([]);
    });

    test('the first request of a key is executed, a different request with the same key is rejected', async () => {
      const { engine } = observed();
      const key = randomUUID();
      const [first, second] = await Promise.all([pay(engine, { key }), pay(engine, { key }, { amount: 1n })]);
      expect([first.status, second.code]).toEqual([201, 'idempotency_key_reused']);
    });
  });

  test('requests with the same key in different batches wait for each other', async () => {
    const { engine, retries, sizes } = observed({ batchMax: 1 });
    const key = randomUUID();
    const before = await count('payments');
    const answers = await Promise.all(Array.from({ length: 10 }, () => pay(engine, { key })));
    expect(answers.filter(({ isReplay }) => isReplay)).toHaveLength(9);
    expect(await count('payments')).toBe(before + 1);
    expect(sizes).toEqual(Array(10).fill(1));
    expect(retries).toEqual([]);
  });

  describe('a bug in one command', () => {
    const throwing: CommandKind<null> = {
      name: 'test.throw',
      success: 'ok',
      reads: () => [],
      decide: () => {
        throw new Error('secret detail');
      },
    };
    const undeclared: CommandKind<{ readonly id: Id<'customer'> }> = {
      name: 'test.undeclared',
      success: 'ok',
      reads: () => [],
      decide: ({ id }, _context, rows) => {
        const row = rows.get<CustomerRow>('customer', id);
        return accepted([], 'customer', row ?? { orgId: formatId('organization', ''), id });
      },
    };
    /** Violates a check constraint that only the database has. */
    const unstorable: CommandKind<CreatePayment> = {
      name: 'test.unstorable',
      success: 'created',
      reads: () => [],
      decide: (input, context) => {
        const row = rowOf({ ...input, amount: 0n }, context, context.suffix);
        return accepted([change(paymentMachine, 'create', null, row)], 'payment', row);
      },
    };
    /** The first change is valid; the second has an invalid instant and cannot be serialized. */
    const halfValid: CommandKind<CreatePayment> = {
      name: 'test.half-valid',
      success: 'created',
      reads: () => [],
      decide: (input, context) => {
        const valid = rowOf(input, context, context.suffix);
        const broken = { ...rowOf(input, context, newSuffix()), createdAt: Number.NaN };
        const changes = [valid, broken].map((row) => change(paymentMachine, 'create', null, row));
        return accepted(changes, 'payment', valid);
      },
    };

    /** The row that the real command would create. */
    function rowOf(input: CreatePayment, context: CommandContext, suffix: string): PaymentRow {
      const decision = createPayment.decide(
        input,
        { ...context, suffix },
        { get: () => undefined, balance: () => 0n },
      );
      if (!decision.ok) throw new Error('expected the command to create a payment');
      return decision.answer.row as PaymentRow;
    }

    const cases: readonly [what: string, send: (engine: Engine, sent: Sent) => Promise<Answer>][] = [
      ['that throws', (engine, sent) => submit(engine, throwing, null, sent)],
      [
        'that reads an undeclared row',
        (engine, sent) => submit(engine, undeclared, { id: formatId('customer', newSuffix()) }, sent),
      ],
      ['that violates a database constraint', (engine, sent) => submit(engine, unstorable, payment, sent)],
      ['that fails half-way', (engine, sent) => submit(engine, halfValid, payment, sent)],
    ];

    test.each(cases)(
      '%s is a 500 for that command only: nothing of it is written, the rest of the batch is',
      async (_what, send) => {
        const { engine, sizes, bugs } = observed();
        const [key, suffix] = [randomUUID(), newSuffix()];
        const before = await count('payments');
        const [first, failed, last] = await Promise.all([
          pay(engine),
          send(engine, { key, suffix }),
          pay(engine),
        ]);
        expect(sizes).toEqual([3]);
        expect(failed).toMatchObject({ status: 500, code: 'internal_error', isReplay: false });
        expect(failed.body).not.toMatch(/secret detail|customer cus_|payments_amount|Invalid time/);
        expect([first.status, last.status]).toEqual([201, 201]);
        const requestId = formatId('request', suffix);
        for (const table of ['state_history', 'events', 'audit']) {
          expect(await count(table, 'request_id = $2', [requestId]), table).toBe(0);
        }
        expect(await count('payments')).toBe(before + 2);
        expect(await count('idempotency', 'key = $2', [key])).toBe(0);
        // The response is not stored, so the client can use the key again after a fix.
        expect((await pay(engine, { key })).status).toBe(201);
        expect(bugs, 'reported once').toHaveLength(1);
      },
    );
  });

  describe('a full queue', () => {
    test('rejects further commands at once with Retry-After, and accepts them later', async () => {
      const { engine } = observed({ queueMax: 1 });
      const key = randomUUID();
      const [queued, ...rejected] = await Promise.all([pay(engine), pay(engine, { key }), pay(engine)]);
      expect(queued?.status).toBe(201);
      for (const answer of rejected) {
        expect(answer).toMatchObject({ status: 503, code: 'service_unavailable', retryAfterSeconds: 1 });
      }
      expect((await pay(engine, { key })).isReplay).toBe(false);
    });
  });

  describe('drain', () => {
    test('resolves when all submitted commands are answered', async () => {
      const { engine } = observed({ batchMax: 10 });
      let answered = 0;
      const answers = Array.from({ length: 100 }, () => pay(engine).then(() => (answered += 1)));
      await engine.drain();
      expect(engine.queueLength).toBe(0);
      await Promise.all(answers);
      expect(answered).toBe(100);
    });

    test('resolves at once when nothing is in flight', async () => {
      await observed().engine.drain();
    });

    test('resolves for every caller', async () => {
      const { engine } = observed();
      void pay(engine);
      await Promise.all([engine.drain(), engine.drain()]);
    });

    test('resolves when all queued commands have expired, each answered with 503 and Retry-After', async () => {
      const { engine } = observed({ waitMsMax: 0 });
      const answers = Array.from({ length: 3 }, () => pay(engine));
      await engine.drain();
      for (const answer of await Promise.all(answers))
        expect(answer).toMatchObject({ status: 503, code: 'service_unavailable', retryAfterSeconds: 1 });
    });
  });

  describe('stored responses', () => {
    test('are deleted after their retention and not before, and a deleted key can be used again', async () => {
      const { engine } = observed();
      const now = Date.now();
      const [old, young] = [randomUUID(), randomUUID()];
      const first = await pay(engine, { key: old, wallNow: now - 2 * dayMs });
      await pay(engine, { key: young, wallNow: now - dayMs + 60_000 });
      expect((await pay(engine, { key: old })).isReplay).toBe(true);
      expect(await engine.reap(now - dayMs)).toBe(1);
      expect((await pay(engine, { key: young })).isReplay).toBe(true);
      const again = await pay(engine, { key: old });
      expect(again).toMatchObject({ status: 201, isReplay: false });
      expect(again.body).not.toBe(first.body);
      expect(await engine.reap(now - dayMs)).toBe(0);
    });

    test('are deleted in batches, without an upper limit', async () => {
      await server.database.script(
        `insert into idempotency select '${acme.orgId}', '${acme.appId}', 'reaped ' || n, decode(repeat('00', 32), 'hex'),
          201, '{}', now() - interval '3 days' from generate_series(1, 2500) n`,
      );
      expect(await server.engine.reap(Date.now() - dayMs)).toBe(2500);
    });

    test('that are the record of an event store only its id, and read as in progress for the release before', async () => {
      const rowOf = async (key: string) => {
        const text = `select i.status, i.body, i.event_status as "eventStatus", e.type, e.resource_id as "resourceId" from idempotency i
          left join events e on e.org_id = i.org_id and e.id = i.event_id where i.org_id = $1 and i.key = $2`;
        return (await server.database.query({ name: '', text }, [acme.orgId, key]))[0];
      };
      const [created, refused] = [randomUUID(), randomUUID()];
      const { body } = await pay(server.engine, { key: created });
      const { id } = JSON.parse(body) as { id: string };
      const event = { type: 'payment.created', resourceId: id };
      expect(await rowOf(created)).toEqual({ status: pendingStatus, body: '', eventStatus: 201, ...event });
      const missing = { customerId: formatId('customer', newSuffix()) };
      const answer = await pay(server.engine, { key: refused }, missing);
      const none = { type: null, resourceId: null, eventStatus: null };
      expect(await rowOf(refused)).toEqual({ status: answer.status, body: answer.body, ...none });
    });

    test('are replayed by an engine that has not seen their keys, alone and among new ones', async () => {
      const keys = Array.from({ length: 20 }, () => randomUUID());
      const before = await Promise.all(keys.map((key) => pay(server.engine, { key })));
      const { engine } = observed();
      const alone = await pay(engine, { key: String(keys[0]) });
      expect(alone).toMatchObject({ status: 201, isReplay: true, body: before[0]?.body });
      const { engine: another } = observed();
      const payments = await count('payments');
      const mixed = await Promise.all(
        keys.flatMap((key) => [pay(another, { key }), pay(another), pay(another, { key }, { amount: 1n })]),
      );
      mixed.forEach((answer, i) => {
        const prior = before[Math.floor(i / 3)];
        if (i % 3 === 0) expect(answer).toMatchObject({ isReplay: true, body: prior?.body });
        if (i % 3 === 1) expect(answer).toMatchObject({ status: 201, isReplay: false });
        if (i % 3 === 2) expect(answer.code).toBe('idempotency_key_reused');
      });
      expect(await count('payments')).toBe(payments + 20);
    });
  });

  describe('two engines on one database', () => {
    let second: Database;

    beforeAll(() => {
      // A separate pool, as on another node. PGlite has a single connection.
      second = databaseUrl === undefined ? server.database : openPostgres(databaseUrl, () => undefined);
    });
    afterAll(async () => {
      if (second !== server.database) await second?.close();
    });

    test('that receive the same 200 keys at once create each payment once', async () => {
      const [one, two] = [observed({ batchMax: 32 }), observed({ batchMax: 32 }, second)];
      const keys = Array.from({ length: 200 }, () => randomUUID());
      const before = await count('payments');
      const answers = await Promise.all([
        ...keys.map((key) => pay(one.engine, { key })),
        // In reverse order, so that the two meet in the middle.
        ...keys.toReversed().map((key) => pay(two.engine, { key })),
      ]);
      expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([201]));
      expect(await count('payments')).toBe(before + 200);
      keys.forEach((_key, i) => {
        const [mine, other] = [answers[i], answers[399 - i]];
        expect(mine?.body).toBe(other?.body);
        expect([mine?.isReplay, other?.isReplay].sort()).toEqual([false, true]);
      });
      expect([...one.bugs, ...two.bugs]).toEqual([]);
    });

    test('that update the same records at once lose no update', async () => {
      const [one, two] = [observed({ batchMax: 8 }), observed({ batchMax: 8 }, second)];
      const ids = await Promise.all(Array.from({ length: 20 }, () => newCustomer()));
      const update = (engine: Engine) => (id: Id<'customer'>) =>
        submit(engine, updateCustomer, { id, fields: { phone: '123' } });
      const answers = await Promise.all([
        ...ids.map(update(one.engine)),
        ...ids.toReversed().map(update(two.engine)),
        ...ids.map(update(two.engine)),
      ]);
      expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]));
      for (const id of ids) {
        expect((await customerRow(id))?.version).toBe(4);
        expect(await count('state_history', 'resource_id = $2', [id])).toBe(4);
      }
    });

    test('one archives customers while the other pays: no payment is created for an archived customer', async () => {
      const [one, two] = [observed({ batchMax: 4 }), observed({ batchMax: 4 }, second)];
      const ids = await Promise.all(Array.from({ length: 20 }, () => newCustomer()));
      const answers = await Promise.all(
        ids.map(async (id) => {
          const [archived, paid] = await Promise.all([
            submit(one.engine, archiveCustomer, { id }),
            pay(two.engine, {}, { customerId: id }),
          ]);
          return { id, archived, paid };
        }),
      );
      for (const { id, archived, paid } of answers) {
        expect(archived.status).toBe(200);
        expect([201, 422]).toContain(paid.status);
        expect(await count('payments', 'customer_id = $2', [id])).toBe(paid.status === 201 ? 1 : 0);
      }
    });
  });

  describe.runIf(kind === 'postgres')('while another node writes the same key', () => {
    async function hold(key: string, body: string): Promise<pg.Client> {
      const node = new pg.Client({ connectionString: databaseUrl });
      await node.connect();
      await node.query('begin');
      await node.query('insert into idempotency values ($1, $2, $3, $4, 201, $5, now())', [
        acme.orgId,
        acme.appId,
        key,
        fingerprint(createPayment.name, payment),
        body,
      ]);
      return node;
    }

    /** Waits until a session waits for a lock: then the engine has reached the held key. */
    async function blocked(node: pg.Client): Promise<void> {
      const waiting = `select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`;
      for (let polls = 0; polls < 1_000; polls += 1) {
        // PostgreSQL caches statistics for the transaction; this discards the cache.
        await node.query('select pg_stat_clear_snapshot()');
        if ((await node.query(waiting)).rowCount) return;
      }
      throw new Error('no session waits for a lock');
    }

    test('a request waits, and replays the response of the other node once it is committed', async () => {
      const { engine, bugs } = observed();
      const key = randomUUID();
      const node = await hold(key, '{"created":"elsewhere"}');
      const before = await count('payments');
      const [waiting, neighbour] = [pay(engine, { key }), pay(engine)];
      await blocked(node);
      await node.query('commit');
      await node.end();
      expect(await waiting).toMatchObject({ status: 201, isReplay: true, body: '{"created":"elsewhere"}' });
      expect(await neighbour).toMatchObject({ status: 201, isReplay: false });
      expect(await count('payments')).toBe(before + 1);
      expect(bugs).toEqual([]);
    });

    test('a request that waits too long is answered with 409 and Retry-After, and that is audited', async () => {
      const { engine } = observed();
      const [key, suffix] = [randomUUID(), newSuffix()];
      const node = await hold(key, '{}');
      const before = await count('payments');
      const [waited, ...neighbours] = await Promise.all([
        pay(engine, { key, suffix }),
        ...Array.from({ length: 5 }, () => pay(engine)),
      ]);
      expect(waited).toMatchObject({ status: 409, code: 'idempotency_in_progress', retryAfterSeconds: 1 });
      expect(neighbours.map(({ status }) => status)).toEqual(Array(5).fill(201));
      expect(await count('payments')).toBe(before + 5);
      const requestId = formatId('request', suffix);
      expect(await count('audit', `request_id = $2 and code = 'idempotency_in_progress'`, [requestId])).toBe(
        1,
      );
      await node.query('rollback');
      await node.end();
      expect(await pay(engine, { key })).toMatchObject({ status: 201, isReplay: false });
    });
  });
});

function fingerprint(name: string, input: unknown): Buffer {
  const text = JSON.stringify([name, input], (_key, value) =>
    typeof value === 'bigint' ? String(value) : (value as unknown),
  );
  return hash('sha256', text, 'buffer');
}
