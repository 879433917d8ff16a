import { readdirSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, inject, it, vi } from 'vitest';
import { balancesOf } from '../model/balances.ts';
import { act, isRefused, newPayment, type Params, type Payment } from '../model/payments.ts';
import { auditRows, type Query } from '../support/audit.ts';
import { createDatabase } from '../support/postgres.ts';
import { type ServerProcess, startServer } from '../support/processes.ts';
import {
  type Answer,
  API_KEY,
  call,
  createPayment,
  expectRefusal,
  listPayments,
  PAYMENTS,
  post,
  postOk,
  SPARE_KEY,
  temporaryFolder,
} from './support/client.ts';
import { expectCompleteRows, queryPostgres } from './support/database-rows.ts';
import { expectSame, newClaims } from './support/load.ts';
import { balancesIn, DISPUTES, paymentAt, REFUNDS, tally } from './support/payment-requests.ts';

/** The nodes that start concurrently on an empty database; the later tests use two of them. */
const STARTED = 4;
const WAIT = { interval: 20 };
const migrations = readdirSync(new URL('../../migrations/', import.meta.url)).filter((name) =>
  /^\d{4}_.*\.sql$/.test(name),
);

const folder = temporaryFolder();
const started: ServerProcess[] = [];
let databaseUrl = '';
let nodes: readonly ServerProcess[] = [];

async function start(count: number): Promise<readonly ServerProcess[]> {
  const some = await Promise.all(
    Array.from({ length: count }, () => startServer({ databaseUrl, seed: folder.seed })),
  );
  started.push(...some);
  return some;
}

async function stop(some: readonly ServerProcess[]): Promise<void> {
  const codes = await Promise.all(some.map((node) => node.stop()));
  expect(codes).toEqual(some.map(() => 0));
}

beforeAll(async () => {
  databaseUrl = await createDatabase(inject('postgresUrl'));
  // Shorter than the time limit for a lock, so that a deadlock is counted as one and does not pass as a long wait.
  const name = new URL(databaseUrl).pathname.slice(1);
  await queryPostgres(databaseUrl, (query) => query(`alter database ${name} set deadlock_timeout = '10ms'`));
  nodes = await start(STARTED);
});
afterAll(async () => {
  await Promise.all(started.map((node) => node.kill()));
  folder.remove();
});

/** Node 0, node 1, node 0 and so on. */
const urlOf = (i: number): string => nodes[i % nodes.length]?.url ?? '';
const repeated = <Result>(count: number, work: (i: number) => Promise<Result>): Promise<Result[]> =>
  Promise.all(Array.from({ length: count }, (_, i) => work(i)));

async function expectSeededOnce(query: Query): Promise<void> {
  expect(await query('select name, version from organizations')).toEqual([{ name: 'Acme', version: 1 }]);
  expect(await query('select name, version from applications')).toEqual([{ name: 'web', version: 1 }]);
  expect(await query('select name, version from api_keys order by name')).toEqual([
    { name: 'ci', version: 1 },
    { name: 'spare', version: 1 },
  ]);
  expect(
    await query(`select 1 from state_history where resource in ('organization', 'application', 'api_key')`),
  ).toHaveLength(4);
}

describe('four nodes that start concurrently on an empty database', () => {
  it('migrate once, declare the seed once, and all serve', async () => {
    for (const node of nodes) {
      expect((await call(`${node.url}/readyz`)).status).toBe(200);
      expect((await createPayment(node.url, `first-${node.pid}`, 'first')).status).toBe(201);
    }
    await queryPostgres(databaseUrl, async (query) => {
      expect(await query('select name from schema_migrations')).toHaveLength(migrations.length);
      await expectSeededOnce(query);
    });
  });

  it('declare nothing again when one of them restarts', async () => {
    await stop(nodes.slice(1));
    nodes = [...nodes.slice(0, 1), ...(await start(1))];
    await queryPostgres(databaseUrl, expectSeededOnce);
  });
});

describe('two nodes on one database', () => {
  it.each([1, 2, 3, 4, 5])(
    'create one payment for 100 identical concurrent requests, round %d',
    async (round) => {
      const answers = await Promise.all(
        Array.from({ length: 100 }, (_, i) => createPayment(urlOf(i), `same-${round}`, `same-${round}`)),
      );
      expectOneOf(answers);
      const listed = await listPayments(urlOf(round));
      expect(listed.filter(({ reference }) => reference === `same-${round}`)).toHaveLength(1);
    },
  );

  it('create 300 payments for 300 keys that both get concurrently', async () => {
    const claims = newClaims('both', 300);
    const answers = await Promise.all(
      claims.map(({ key, reference }) =>
        Promise.all(nodes.map((node) => createPayment(node.url, key, reference))),
      ),
    );
    for (const pair of answers) expectOneOf(pair);
    const listed = (await listPayments(urlOf(0))).filter(({ reference }) =>
      reference?.startsWith('ref-both'),
    );
    expectSame(
      listed.map(({ reference }) => String(reference)),
      claims.map(({ reference }) => reference),
    );
    expect(await listPayments(urlOf(1))).toEqual(await listPayments(urlOf(0)));
  });

  it('create 300 payments for 300 keys that they get in opposite order', async () => {
    const claims = newClaims('crossed', 300);
    const [forth, back] = await Promise.all([
      Promise.all(claims.map(({ key, reference }) => createPayment(urlOf(0), key, reference))),
      Promise.all(claims.toReversed().map(({ key, reference }) => createPayment(urlOf(1), key, reference))),
    ]);
    back.reverse();
    forth.forEach((answer, i) => {
      expectOneOf([answer, back[i] as Answer]);
    });
  });

  it('both reject a key soon after it was revoked in the database', async () => {
    const statuses = () =>
      Promise.all(nodes.map(async (node) => (await call(node.url + PAYMENTS, { key: SPARE_KEY })).status));
    expect(await statuses()).toEqual([200, 200]);
    await queryPostgres(databaseUrl, (query) =>
      query(
        `update api_keys set status = 'revoked', version = version + 1 where last_four = '${SPARE_KEY.slice(-4)}'`,
      ),
    );
    await vi.waitUntil(async () => (await statuses()).every((status) => status === 401), WAIT);
    for (const node of nodes) {
      expectRefusal(await call(node.url + PAYMENTS, { key: SPARE_KEY }), 'api_key_revoked');
      expect((await call(node.url + PAYMENTS, { key: API_KEY })).status).toBe(200);
    }
  });

  it('have one history row, event, audit row and stored response for each of these payments', async () => {
    await queryPostgres(databaseUrl, async (query) => {
      const payments = await query('select id from payments');
      await expectCompleteRows(
        query,
        payments.map(({ id }) => String(id)),
      );
    });
  });
});

describe('two hundred concurrent partial refunds of one payment on two nodes', () => {
  const captured = 10_000;
  const part = 333;
  const fitting = Math.floor(captured / part);

  it.each([
    { scenario: 'approve', to: 'captured', currency: 'SEK', status: 'succeeded' },
    { scenario: 'approve', to: 'settled', currency: 'DKK', status: 'succeeded' },
    { scenario: 'refund_pending', to: 'captured', currency: 'PLN', status: 'pending' },
  ])(
    'never exceed the captured amount: as many as fit succeed ($scenario, $to)',
    async ({ scenario, to, currency, status }) => {
      const id = await paymentAt(urlOf(0), to, { amount: captured, currency, scenario });
      const ask = (i: number) => post(`${urlOf(i) + PAYMENTS}/${id}/refund`, { amount: part }, `${id}-${i}`);
      const answers = await repeated(200, ask);
      expect(tally(answers)).toEqual({ 201: fitting, amount_exceeds_refundable: 200 - fitting });
      const refunded = answers.filter((answer) => answer.status === 201);
      expect(new Set(refunded.map(({ body }) => body.status))).toEqual(new Set([status]));
      expect(new Set(refunded.map(({ body }) => body.id)).size).toBe(fitting);

      const returned = fitting * part;
      const isPending = status === 'pending';
      const { body: payment } = await call(`${urlOf(1) + PAYMENTS}/${id}`);
      expect(payment).toMatchObject({
        status: isPending ? to : 'partially_refunded',
        amountRefunded: isPending ? 0 : returned,
        amountRefundable: captured - returned,
      });
      const { body: listed } = await call(`${urlOf(0) + REFUNDS}?limit=100&paymentId=${id}`);
      expect(listed.data).toHaveLength(fitting);

      // 2.9 % and 30.
      const share = captured - 320 - returned;
      const money = isPending ? captured : captured - returned;
      expect(await balancesIn(urlOf(1), currency)).toEqual({
        fees: -320,
        ...(to === 'settled'
          ? { bank: money, merchant_available: -share }
          : { provider_receivable: money, merchant_pending: -share }),
        ...(isPending ? { refunds_in_transit: -returned } : {}),
      });

      // Each request is repeated on the other node and gets the same bytes.
      const again = await repeated(200, (i) =>
        post(`${urlOf(i + 1) + PAYMENTS}/${id}/refund`, { amount: part }, `${id}-${i}`),
      );
      expect(again.map(({ text }) => text)).toEqual(answers.map(({ text }) => text));
      expect(again.every(({ isReplay }) => isReplay)).toBe(true);
    },
  );
});

describe('two nodes that change the same payments concurrently', () => {
  it('capture no more than is authorized: as many as fit succeed', async () => {
    const fields = { amount: 1_000, currency: 'CHF', captureMethod: 'manual' };
    const ids = await repeated(15, (i) => paymentAt(urlOf(i), 'authorized', fields));
    const captures = ids.flatMap((id) => Array.from({ length: 10 }, () => id));
    // In opposite order on the two nodes, so that they meet.
    const answers = await Promise.all(
      [captures, captures.toReversed()].flatMap((list, node) =>
        list.map(async (id) => {
          const answer = await post(`${urlOf(node) + PAYMENTS}/${id}/advance`, {
            action: 'capture',
            amount: 150,
          });
          return { id, answer };
        }),
      ),
    );
    for (const id of ids) {
      const own = answers.filter((row) => row.id === id).map(({ answer }) => answer);
      expect(tally(own)).toEqual({ 200: 6, amount_exceeds_capturable: 14 });
      const { body } = await call(`${urlOf(0) + PAYMENTS}/${id}`);
      expect(body).toMatchObject({
        status: 'partially_captured',
        amountCaptured: 900,
        amountCapturable: 100,
        // Six captures, each with its own fee: 4.35 rounded half to even, and 30.
        feeAmount: 6 * 34,
        version: 8,
      });
    }
    const sum = (amount: number): number => ids.length * amount;
    expect(await balancesIn(urlOf(1), 'CHF')).toEqual({
      provider_holds: sum(100),
      hold_obligations: sum(-100),
      provider_receivable: sum(900),
      merchant_pending: sum(-900 + 204),
      fees: sum(-204),
    });
  });

  it('resolve each refund and each dispute once, whichever node gets the request', async () => {
    const records = await repeated(20, async (i) => {
      const id = await paymentAt(urlOf(i), 'captured', {
        amount: 1_000,
        currency: 'GBP',
        scenario: 'refund_pending',
      });
      const refund = () => postOk(`${urlOf(i) + PAYMENTS}/${id}/refund`, { amount: 100 });
      const refunds = [await refund(), await refund()].map((body) => String(body.id));
      const moved = await postOk(`${urlOf(i) + PAYMENTS}/${id}/advance`, { action: 'dispute', amount: 300 });
      return { id, refunds, disputeId: String(moved.disputeId) };
    });

    /** Requests by payment, refund and dispute: each of them locks the payment. */
    const asks = ({ id, refunds, disputeId }: (typeof records)[number]) => [
      ...refunds.flatMap((refundId) =>
        ['succeed', 'fail', 'cancel'].map((action) => ({
          path: `${REFUNDS}/${refundId}/advance`,
          body: { action },
        })),
      ),
      { path: `${PAYMENTS}/${id}/refund`, body: { amount: 200 } },
      { path: `${DISPUTES}/${disputeId}/advance`, body: { action: 'accept' } },
      { path: `${DISPUTES}/${disputeId}/advance`, body: { to: 'won' } },
      { path: `${PAYMENTS}/${id}/refund`, body: { amount: 200 } },
      { path: `${PAYMENTS}/${id}/advance`, body: { action: 'dispute', amount: 50 } },
    ];
    const all = records.flatMap((record) => asks(record).map((ask) => ({ ...ask, id: record.id })));
    const answers = await Promise.all(
      [all, all.toReversed()].flatMap((list, node) =>
        list.map(async ({ path, body }) => ({ path, answer: await post(urlOf(node) + path, body) })),
      ),
    );
    tally(answers.map(({ answer }) => answer));
    const won = (path: string): readonly Answer[] =>
      answers.filter((row) => row.path === path && row.answer.status < 300).map(({ answer }) => answer);
    for (const { id, refunds, disputeId } of records) {
      for (const refundId of refunds) expect(won(`${REFUNDS}/${refundId}/advance`)).toHaveLength(1);
      expect(won(`${DISPUTES}/${disputeId}/advance`)).toHaveLength(1);
      const { body } = await call(`${urlOf(0) + PAYMENTS}/${id}/history?limit=100`);
      const moves = body.data as readonly { version: number; event: { id: string } }[];
      expect(moves.map(({ version }) => version)).toEqual(moves.map((_, i) => moves.length - i));
      expect(new Set(moves.map(({ event }) => event.id)).size).toBe(moves.length);
    }
    await queryPostgres(databaseUrl, async (query) => expect(await auditRows(query)).toEqual([]));
  });
});

describe('fifty clients that change payments of one organization on two nodes', () => {
  const ways: readonly (readonly (Params & { readonly action: string })[])[] = [
    [
      { action: 'authorize' },
      { action: 'capture', amount: 400n },
      { action: 'capture' },
      { action: 'settle' },
      { action: 'refund', amount: 100n },
    ],
    [{ action: 'capture' }, { action: 'refund', amount: 250n }, { action: 'settle' }, { action: 'dispute' }],
    [{ action: 'authorize' }, { action: 'capture', amount: 300n, isFinal: true }, { action: 'dispute' }],
    [{ action: 'process' }, { action: 'authorize' }, { action: 'cancel' }],
  ];

  /** The same transition on the server and in the model. */
  async function move(node: string, id: string, before: Payment, step: (typeof ways)[number][number]) {
    const { action, amount, isFinal } = step;
    await postOk(`${node + PAYMENTS}/${id}/advance`, {
      action,
      ...(amount === undefined ? {} : { amount: Number(amount) }),
      ...(isFinal === undefined ? {} : { final: isFinal }),
    });
    const after = act(before, action, step, 'willing');
    if (isRefused(after)) throw new Error(`${action} is rejected by the model`);
    return after;
  }

  it('leave every balance equal to the sum of its payments', async () => {
    const currency = 'NOK';
    /** Each client changes its payments at the same time, so that all batches in flight on both nodes write the same balances. */
    const payments = await repeated(50, (client) =>
      Promise.all(
        [...ways, ...ways, ...ways].map(async (way, i) => {
          const amount = 1_000 + client * 7 + i;
          const { id } = await postOk(urlOf(client) + PAYMENTS, { amount, currency });
          const terms = { basisPoints: 290n, fixed: 30n };
          const fields = { amount: BigInt(amount), currency, isManual: false, scenario: 'approve', terms };
          let payment = newPayment(fields);
          for (const [turn, step] of way.entries())
            payment = await move(urlOf(client + turn), String(id), payment, step);
          return payment;
        }),
      ),
    );
    const sums: Record<string, number> = {};
    for (const [account, amount] of payments.flat().flatMap((payment) => Object.entries(balancesOf(payment))))
      sums[account] = (sums[account] ?? 0) + Number(amount);
    const wanted = Object.fromEntries(Object.entries(sums).filter(([, amount]) => amount !== 0));
    expect(await balancesIn(urlOf(0), currency)).toEqual(wanted);
    expect(await balancesIn(urlOf(1), currency)).toEqual(wanted);
  });
});

describe('after all of it', () => {
  it('the rows are consistent, and no statement was part of a deadlock', async () => {
    await stop(nodes);
    await queryPostgres(databaseUrl, async (query) => {
      expect(await auditRows(query)).toEqual([]);
      // The sessions of the nodes have ended, so PostgreSQL has counted all of theirs.
      const counted = 'select deadlocks::integer from pg_stat_database where datname = current_database()';
      expect(await query(counted)).toEqual([{ deadlocks: 0 }]);
    });
  });
});

/** All responses are the same, and exactly one of them created the payment. */
function expectOneOf(answers: readonly Answer[]): void {
  expect(answers.filter(({ status }) => status !== 201)).toEqual([]);
  expect(new Set(answers.map(({ text }) => text)).size).toBe(1);
  expect(answers.filter(({ isReplay }) => !isReplay)).toHaveLength(1);
}
