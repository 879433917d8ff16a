import pg from 'pg';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import type { Database } from '../../src/db/database.ts';
import { openPostgres } from '../../src/db/postgres.ts';
import type { Engine } from '../../src/engine/engine.ts';
import { newSuffix } from '../../src/engine/ids.ts';
import { accepted, type CommandKind } from '../../src/kernel/command.ts';
import { refuse } from '../../src/kernel/errors.ts';
import { formatId, type Id, idFrom } from '../../src/kernel/ids.ts';
import { advanceDispute } from '../../src/resources/disputes/machine.ts';
import { advancePayment } from '../../src/resources/payments/advance.ts';
import { noParams } from '../../src/resources/payments/scenario.ts';
import type { PaymentRow } from '../../src/resources/payments/table.ts';
import { advanceRefund } from '../../src/resources/refunds/advance.ts';
import type { RefundAction } from '../../src/resources/refunds/machine.ts';
import type { RefundRow } from '../../src/resources/refunds/table.ts';
import type { Server } from '../../src/server.ts';
import { auditRows } from '../support/audit.ts';
import { migratedDatabase } from '../support/postgres.ts';
import { databaseKinds, openServer } from '../support/server.ts';
import { type Tenant, tenant } from '../support/tenant.ts';
import { observed, outcomes, Submitter } from './submitting.ts';

describe.each(databaseKinds)('commands that read rows referenced by other rows on %s', (kind) => {
  let server: Server;
  let databaseUrl: string | undefined;
  let acme: Tenant;
  let commands: Submitter;
  let second: Database;

  beforeAll(async () => {
    databaseUrl = kind === 'postgres' ? await migratedDatabase(inject('postgresUrl')) : undefined;
    server = await openServer(kind, { databaseUrl });
    // A separate pool, as on another node. PGlite has a single connection.
    second = databaseUrl === undefined ? server.database : openPostgres(databaseUrl, () => undefined);
    acme = await tenant(server);
    commands = new Submitter(acme);
  });
  afterAll(async () => {
    const findings = await auditRows((text) => server.database.query({ name: '', text }, []));
    if (second !== server.database) await second?.close();
    await server?.close();
    expect(findings).toEqual([]);
  });

  async function rows<Row>(text: string, ...values: readonly unknown[]): Promise<readonly Row[]> {
    return server.database.query<Row>({ name: '', text }, [acme.orgId, ...values]);
  }

  const paymentRow = async (id: string) => {
    const text = `select status, version, amount_refunded, amount_refund_pending from payments where org_id = $1 and id = $2`;
    const [row] = await rows<Record<string, unknown>>(text, id);
    return row;
  };

  const endRefund = (engine: Engine, id: Id<'refund'>, action: RefundAction) =>
    commands.submit(engine, advanceRefund, { id, request: { by: 'action', action, params: null } });

  describe('a row that only another row references', () => {
    /** Reads a payment through its refund and returns it. */
    const readingPayment = (
      name: (refund: RefundRow | undefined) => Id<'payment'>,
    ): CommandKind<{ readonly id: Id<'refund'> }> => ({
      name: 'test.read-payment',
      success: 'ok',
      reads: ({ id }) => [{ resource: 'refund', id, lock: 'update' }],
      thenReads: ({ id }, found) => [
        { resource: 'payment', id: name(found.get<RefundRow>('refund', id)), lock: 'update' },
      ],
      decide: ({ id }, _context, found) => {
        const payment = found.get<PaymentRow>('payment', name(found.get<RefundRow>('refund', id)));
        return payment ? accepted([], 'payment', payment) : refuse('customer_not_found');
      },
    });

    test('is loaded for its command', async () => {
      const { engine, bugs } = observed(server.database);
      const { id, refundIds } = await commands.captured(engine, 1);
      const command = readingPayment((refund) => idFrom('payment', refund?.paymentId));
      const answer = await commands.submit(engine, command, { id: idFrom('refund', refundIds[0]) });
      expect(JSON.parse(answer.body)).toMatchObject({ object: 'payment', id, status: 'captured' });
      expect(bugs).toEqual([]);
    });

    test.each([
      ['that does not exist', formatId('payment', newSuffix())],
      ['with an invalid id', 'nothing at all'],
    ])('is absent, and not an undeclared read, when the reference is to one %s', async (_what, name) => {
      const id = name as Id<'payment'>;
      const { engine, bugs, sizes } = observed(server.database);
      const { refundIds } = await commands.captured(engine, 1);
      sizes.length = 0;
      const [answer, neighbour] = await Promise.all([
        commands.submit(
          engine,
          readingPayment(() => id),
          { id: idFrom('refund', refundIds[0]) },
        ),
        commands.pay(engine),
      ]);
      expect([answer.code, neighbour.status]).toEqual(['customer_not_found', 201]);
      expect(sizes).toEqual([2]);
      expect(bugs).toEqual([]);
    });

    test('is not read when the first row does not exist: the response is 404', async () => {
      const { engine, bugs } = observed(server.database);
      const answer = await endRefund(engine, formatId('refund', newSuffix()), 'succeed');
      expect(answer.code).toBe('resource_not_found');
      expect(bugs).toEqual([]);
    });
  });

  describe.runIf(kind === 'postgres')('while another node holds a row lock', () => {
    /** Waits until a session waits for a lock. */
    async function blocked(node: pg.Client): Promise<void> {
      const waiting = `select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`;
      for (let polls = 0; polls < 2_000; polls += 1) {
        await node.query('select pg_stat_clear_snapshot()');
        if ((await node.query(waiting)).rowCount) return;
      }
      throw new Error('no session waits for a lock');
    }

    test.each([
      { table: 'refunds', column: 'reason' },
      { table: 'payments', column: 'description' },
    ])(
      'the row in $table is read again under lock: the update of the other node is not lost',
      async ({ table, column }) => {
        const { engine, retries, bugs } = observed(server.database);
        const { id, refundIds } = await commands.captured(engine, 1);
        const refundId = idFrom('refund', refundIds[0]);
        const own = [acme.orgId, table === 'refunds' ? refundId : id];
        const node = new pg.Client({ connectionString: databaseUrl });
        await node.connect();
        await node.query('begin');
        await node.query(`select 1 from ${table} where org_id = $1 and id = $2 for update`, own);
        const ending = endRefund(engine, refundId, 'succeed');
        await blocked(node);
        // The engine has done its first, unlocked read by now.
        await node.query(`update ${table} set ${column} = 'marked' where org_id = $1 and id = $2`, own);
        await node.query('commit');
        await node.end();
        expect(outcomes([await ending])).toEqual([200]);
        const text = `select status, ${column} as mark from ${table} where org_id = $1 and id = $2`;
        const status = table === 'refunds' ? 'succeeded' : 'partially_refunded';
        expect(await rows(text, own[1])).toEqual([{ status, mark: 'marked' }]);
        expect([...retries, ...bugs]).toEqual([]);
      },
    );
  });

  describe('in one batch', () => {
    test('a payment is created, captured and refunded, and each command sees the previous ones', async () => {
      const { engine, sizes, bugs } = observed(server.database);
      const [paymentSuffix, pending] = [newSuffix(), newSuffix()];
      const id = formatId('payment', paymentSuffix);
      const answers = await Promise.all([
        commands.refund(engine, id, 1n),
        commands.pay(engine, {}, paymentSuffix),
        commands.refund(engine, id, 1n),
        commands.walk(engine, id, 'settled'),
        commands.refund(engine, id, 400n, pending),
        endRefund(engine, formatId('refund', pending), 'cancel'),
        commands.refund(engine, id, 601n),
        commands.refund(engine, id, 600n),
        commands.refund(engine, id, null),
      ]);
      expect(sizes).toEqual([9]);
      expect(outcomes(answers)).toEqual([
        'resource_not_found',
        201,
        'invalid_state_transition',
        200,
        201,
        'invalid_state_transition',
        'amount_exceeds_refundable',
        201,
        'invalid_state_transition',
      ]);
      expect(await paymentRow(id)).toEqual({
        status: 'refunded',
        version: 5,
        amount_refunded: 1_000n,
        amount_refund_pending: 0n,
      });
      const text = `select version, from_status, to_status from state_history where org_id = $1 and resource_id = $2 order by version`;
      expect(await rows(text, id)).toEqual(
        ['pending', 'captured', 'settled', 'partially_refunded', 'refunded'].map((to_status, i, all) => ({
          version: i + 1,
          from_status: all[i - 1] ?? null,
          to_status,
        })),
      );
      expect(bugs).toEqual([]);
    });

    test('of three final transitions for a pending refund, the first one wins', async () => {
      const { engine, sizes } = observed(server.database);
      const { id, refundIds } = await commands.captured(engine, 1);
      sizes.length = 0;
      const ends = (['fail', 'succeed', 'cancel'] as const).map((action) =>
        endRefund(engine, idFrom('refund', refundIds[0]), action),
      );
      expect(outcomes(await Promise.all(ends))).toEqual([
        200,
        'invalid_state_transition',
        'invalid_state_transition',
      ]);
      expect(sizes).toEqual([3]);
      expect(await paymentRow(id)).toMatchObject({ status: 'captured', amount_refund_pending: 0n });
    });

    test('a dispute is opened and closed, and the payment is back in its state', async () => {
      const { engine, sizes } = observed(server.database);
      const { id } = await commands.captured(engine);
      sizes.length = 0;
      const suffix = newSuffix();
      const open = { id, request: { by: 'action', action: 'dispute', params: noParams } } as const;
      const closing = {
        id: formatId('dispute', suffix),
        request: { by: 'to', to: 'won', params: null },
      } as const;
      const answers = await Promise.all([
        commands.submit(engine, advancePayment, open, suffix),
        commands.submit(engine, advanceDispute, closing),
      ]);
      expect(outcomes(answers)).toEqual([200, 200]);
      expect(sizes).toEqual([2]);
      expect(await paymentRow(id)).toMatchObject({ status: 'captured', version: 4 });
    });
  });

  describe('two engines', () => {
    test('that use the same payments and refunds at once never have to retry a batch', async () => {
      const [one, two] = [observed(server.database, { batchMax: 12 }), observed(second, { batchMax: 12 })];
      const found = await Promise.all(Array.from({ length: 24 }, () => commands.captured(server.engine, 3)));
      /** Alternates between payment and refunds, so that each engine locks the rows in both orders. */
      const calls = found.flatMap(({ id, refundIds }) => [
        (engine: Engine) => commands.refund(engine, id, 50n),
        (engine: Engine) => endRefund(engine, idFrom('refund', refundIds[0]), 'succeed'),
        (engine: Engine) => endRefund(engine, idFrom('refund', refundIds[2]), 'cancel'),
        (engine: Engine) => commands.refund(engine, id, 50n),
        (engine: Engine) => endRefund(engine, idFrom('refund', refundIds[1]), 'fail'),
      ]);
      const answers = await Promise.all([
        ...calls.map((call) => call(one.engine)),
        ...calls.toReversed().map((call) => call(two.engine)),
      ]);
      const results = outcomes(answers);
      const count = (what: string | number): number => results.filter((outcome) => outcome === what).length;
      expect([count(201), count(200), count('invalid_state_transition')]).toEqual([24 * 4, 24 * 3, 24 * 3]);
      for (const { id } of found) {
        expect(await paymentRow(id)).toEqual({
          status: 'partially_refunded',
          // Create, capture, three earlier refunds, four new ones and three final transitions.
          version: 12,
          amount_refunded: 100n,
          amount_refund_pending: 200n,
        });
      }
      // A deadlock would be a conflict, and a conflict would be a retry.
      expect([...one.retries, ...two.retries, ...one.bugs, ...two.bugs]).toEqual([]);
    });

    test('one starting from refunds and one from payments never deadlock', async () => {
      const [one, two] = [observed(server.database), observed(second)];
      const rounds = 4;
      const found = await Promise.all(
        Array.from({ length: 30 }, () => commands.captured(server.engine, rounds)),
      );
      for (let round = 0; round < rounds; round += 1) {
        const end = (engine: Engine, refundIds: readonly Id<'refund'>[]) =>
          endRefund(engine, idFrom('refund', refundIds[round]), 'succeed');
        // If the first read took locks, one engine would hold the refunds now, and the other the payments.
        const [byRefund, byPayment] = await Promise.all([
          Promise.all(found.map(({ refundIds }) => end(one.engine, refundIds))),
          Promise.all(
            found.map(async ({ id, refundIds }) => {
              const [refund, ended] = await Promise.all([
                commands.refund(two.engine, id, 10n),
                end(two.engine, refundIds),
              ]);
              expect(refund.status).toBe(201);
              return ended;
            }),
          ),
        ]);
        byRefund.forEach((ended, i) => {
          const other = byPayment[i];
          expect([ended.status, other?.status].sort()).toEqual([200, 409]);
        });
      }
      expect([...one.retries, ...two.retries, ...one.bugs, ...two.bugs]).toEqual([]);
    });
  });

  describe('balances', () => {
    beforeAll(() =>
      // A trigger records each balance write and its transaction.
      server.database.script(`
        create table balance_writes (batch text, org_id text, account text, currency text);
        create function note_balance_write() returns trigger language plpgsql as $$
        begin
          insert into balance_writes values (pg_current_xact_id()::text, new.org_id, new.account, new.currency);
          return null;
        end $$;
        create trigger note_writes after insert or update on ledger_balances
          for each row execute function note_balance_write();`),
    );

    test('are written once for each account and batch, and are exact with two batches in flight', async () => {
      const { engine, sizes, retries, bugs } = observed(server.database, { batchMax: 40 });
      const fresh = await tenant(server);
      const others = new Submitter(fresh);
      const suffixes = Array.from({ length: 200 }, () => newSuffix());
      await Promise.all(suffixes.map((suffix) => others.pay(engine, {}, suffix)));
      sizes.length = 0;
      const ids = suffixes.map((suffix) => formatId('payment', suffix));
      await Promise.all(ids.map((id) => others.walk(engine, id, 'settled')));
      await Promise.all(
        ids.flatMap((id) => [others.refund(engine, id, 100n), others.refund(engine, id, 150n)]),
      );
      const batches = sizes.length;
      expect(sizes.reduce((sum, size) => sum + size, 0)).toBe(600);
      expect(batches).toBeLessThan(60);

      const text =
        'select account, balance from ledger_balances where org_id = $1 and balance <> 0 order by account';
      const found = await server.database.query({ name: '', text }, [fresh.orgId]);
      // Of each payment of 1,000: 59 fee, 250 refunded.
      expect(found).toEqual([
        { account: 'bank', balance: 200n * 750n },
        { account: 'fees', balance: 200n * -59n },
        { account: 'merchant_available', balance: 200n * -691n },
      ]);
      const writes = `select account, count(*)::integer as writes, count(distinct batch)::integer as batches
        from balance_writes where org_id = $1 group by account order by account`;
      const noted = await server.database.query<{ account: string; writes: number; batches: number }>(
        { name: '', text: writes },
        [fresh.orgId],
      );
      expect(noted.map(({ account }) => account)).toContain('bank');
      for (const row of noted) {
        expect(row.writes, row.account).toBe(row.batches);
        expect(row.writes, row.account).toBeLessThanOrEqual(batches);
      }
      expect([...retries, ...bugs]).toEqual([]);
    });
  });
});
