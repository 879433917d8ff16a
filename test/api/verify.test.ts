import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { verificationText, verify } from '../../src/admin/verify.ts';
import type { Server } from '../../src/server.ts';
import { openReceiver } from '../support/receiver.ts';
import { databaseKinds, openServer } from '../support/server.ts';
import { type Tenant, tenant } from '../support/tenant.ts';

describe.each(databaseKinds)('verify on %s', (kind) => {
  let server: Server;
  let acme: Tenant;
  let globex: Tenant;
  let paymentId: string;
  let transferId: string;

  const run = (sql: string) => server.database.script(sql);
  const failedChecks = async () =>
    (await verify(server.database)).checks.filter(({ differences }) => differences.length > 0);

  beforeAll(async () => {
    server = await openServer(kind);
    acme = await tenant(server);
    globex = await tenant(server);
    const { post } = acme.client;
    const pay = async (body: object, to: string, refund?: object) => {
      const { id } = (await post.call(acme.client, 'developer_api_payments', body)).body;
      await post.call(acme.client, `developer_api_payments/${id}/advance`, { to });
      if (refund) await post.call(acme.client, `developer_api_payments/${id}/refund`, refund);
      return id;
    };
    paymentId = await pay({ amount: 10_000, currency: 'EUR' }, 'settled', { amount: 300 });
    await pay({ amount: 700, currency: 'EUR', scenario: 'refund_pending' }, 'captured', { amount: 100 });
    await pay({ amount: 5_000, currency: 'JPY', captureMethod: 'manual' }, 'authorized');
    await pay({ amount: 900, currency: 'JPY' }, 'charged_back');
    await pay({ amount: 900, currency: 'USD' }, 'disputed');
    const customer = await acme.client.post('developer_api_customers', { name: 'Ada' });
    const ofCustomer = { amount: 800, currency: 'EUR', customerId: customer.body.id };
    expect((await acme.client.post('developer_api_payments', ofCustomer)).status).toBe(201);
    const quote = {
      sourceCurrency: 'EUR',
      targetCurrency: 'JPY',
      sourceAmount: 5_000,
      scenario: 'settle_short',
    };
    const transfer = (await acme.client.post('developer_api_transfers', quote)).body;
    transferId = transfer.id;
    const advanceInput = { to: 'completed', beneficiary: { name: 'Grace' } };
    expect(
      (await acme.client.post(`developer_api_transfers/${transferId}/advance`, advanceInput)).status,
    ).toBe(200);
    for (const to of ['accepted', 'in_review', 'converted', 'returned', 'refunded', 'canceled']) {
      const quote = { sourceCurrency: 'GBP', targetCurrency: 'KWD', sourceAmount: 10_000 };
      const { id } = (await acme.client.post('developer_api_transfers', quote)).body;
      const body = { to, beneficiary: { name: 'Grace' } };
      expect((await acme.client.post(`developer_api_transfers/${id}/advance`, body)).status).toBe(200);
    }
    const receiver = await openReceiver();
    const webhook = await acme.client.post('developer_api_webhooks', { url: receiver.url });
    const tested = await acme.client.post(`developer_api_webhooks/${webhook.body.id}/test`);
    expect(tested.body.status).toBe('succeeded');
    await receiver.close();
    await server.sealer.seal();
    // The background sealer could seal a row while a test has modified it.
    await server.sealer.stop();
  });
  afterAll(() => server?.close());

  beforeEach(async () => {
    expect(await failedChecks()).toEqual([]);
  });

  test('reports consistent data as sound, with the number of checked records', async () => {
    const verification = await verify(server.database);
    expect(verification).toMatchObject({ isSound: true, counts: { payments: 6, transfers: 7 } });
    expect(verification.counts.entries).toBeGreaterThan(8);
    expect(verificationText(verification)).toMatch(
      /6 payments and 7 transfers checked[\s\S]+The books are sound\.$/,
    );
  });

  /** Changes that a database administrator could make, and their reversal. */
  const modifications: readonly (readonly [
    name: string,
    found: readonly string[],
    damage: () => string,
    repair: () => string,
  ])[] = [
    [
      'a changed balance',
      ['balances_equal_postings', 'trial_balance_is_zero'],
      () => `update ledger_balances set balance = balance + 1 where account = 'fees' and currency = 'EUR'`,
      () => `update ledger_balances set balance = balance - 1 where account = 'fees' and currency = 'EUR'`,
    ],
    [
      'a removed balance',
      ['balances_equal_postings', 'trial_balance_is_zero'],
      () => `create table aside as select * from ledger_balances where account = 'fees' and currency = 'EUR';
        delete from ledger_balances where account = 'fees' and currency = 'EUR'`,
      () => 'insert into ledger_balances select * from aside; drop table aside',
    ],
    [
      'a changed posting',
      ['entries_sum_to_zero', 'balances_equal_postings', 'payments_equal_postings'],
      () =>
        tampered(`update ledger_entries set postings = jsonb_set(postings, '{0,amount}', '10001')
        where payment_id = '${paymentId}' and reason = 'capture'`),
      () =>
        tampered(`update ledger_entries set postings = jsonb_set(postings, '{0,amount}', '10000')
        where payment_id = '${paymentId}' and reason = 'capture'`),
    ],
    [
      'a removed entry',
      ['balances_equal_postings', 'payments_equal_postings'],
      () => `create table aside as select * from ledger_entries where payment_id = '${paymentId}' and reason = 'capture';
        ${tampered(`delete from ledger_entries where payment_id = '${paymentId}' and reason = 'capture'`)}`,
      () => 'insert into ledger_entries select * from aside; drop table aside',
    ],
    [
      'a changed payment amount',
      ['payments_equal_postings', 'reports_equal_postings'],
      () => `update payments set fee_amount = fee_amount - 1 where id = '${paymentId}'`,
      () => `update payments set fee_amount = fee_amount + 1 where id = '${paymentId}'`,
    ],
    [
      'a changed refund',
      ['payments_equal_refunds'],
      () => `update refunds set amount = amount - 1 where payment_id = '${paymentId}'`,
      () => `update refunds set amount = amount + 1 where payment_id = '${paymentId}'`,
    ],
    [
      'a changed dispute',
      ['payments_equal_disputes'],
      () => `update disputes set amount = amount - 1 where currency = 'USD'`,
      () => `update disputes set amount = amount + 1 where currency = 'USD'`,
    ],
    [
      'a changed transfer target amount',
      ['transfers_equal_postings'],
      () => `update transfers set target_amount = target_amount + 1 where id = '${transferId}'`,
      () => `update transfers set target_amount = target_amount - 1 where id = '${transferId}'`,
    ],
    [
      'a transfer whose status does not match its ledger entries',
      ['transfers_equal_postings', 'records_equal_history'],
      () => `update transfers set status = 'sent' where id = '${transferId}'`,
      () => `update transfers set status = 'completed' where id = '${transferId}'`,
    ],
    [
      'a status without a transition',
      ['records_equal_history'],
      () => `update payments set status = 'refunded' where id = '${paymentId}'`,
      () => `update payments set status = 'partially_refunded' where id = '${paymentId}'`,
    ],
    [
      'a record with a decremented version',
      ['records_equal_history'],
      () => `update payments set version = version - 1 where id = '${paymentId}'`,
      () => `update payments set version = version + 1 where id = '${paymentId}'`,
    ],
    [
      'a removed report line',
      ['reports_equal_postings'],
      () => `create table aside as select * from settlement_lines where payment_id = '${paymentId}';
        ${tampered('delete from settlement_lines where id in (select id from aside)', 'settlement_lines')}`,
      () => 'insert into settlement_lines select * from aside; drop table aside',
    ],
    [
      'a changed report line',
      ['reports_equal_postings'],
      () =>
        tampered(
          `update settlement_lines set gross = gross - 1 where payment_id = '${paymentId}'`,
          'settlement_lines',
        ),
      () =>
        tampered(
          `update settlement_lines set gross = gross + 1 where payment_id = '${paymentId}'`,
          'settlement_lines',
        ),
    ],
    [
      'a changed report line of a transfer',
      ['reports_equal_postings'],
      () =>
        tampered(
          `update settlement_lines set ledger_gross = ledger_gross - 1 where transfer_id = '${transferId}'`,
          'settlement_lines',
        ),
      () =>
        tampered(
          `update settlement_lines set ledger_gross = ledger_gross + 1 where transfer_id = '${transferId}'`,
          'settlement_lines',
        ),
    ],
    [
      'a changed transfer source amount',
      ['transfers_equal_postings'],
      () => `update transfers set source_amount = source_amount - 1 where id = '${transferId}'`,
      () => `update transfers set source_amount = source_amount + 1 where id = '${transferId}'`,
    ],
    [
      'a removed timer',
      ['timers_equal_records'],
      () => `create table aside as select * from timers where resource = 'dispute';
        delete from timers where resource = 'dispute'`,
      () => 'insert into timers select * from aside; drop table aside',
    ],
    [
      'a postponed timer',
      ['timers_equal_records'],
      () => `update timers set due_at = due_at + interval '1 day' where resource = 'dispute'`,
      () => `update timers set due_at = due_at - interval '1 day' where resource = 'dispute'`,
    ],
    [
      'a removed attempt',
      ['deliveries_equal_attempts'],
      () => 'create table aside as select * from delivery_attempts; delete from delivery_attempts',
      () => 'insert into delivery_attempts select * from aside; drop table aside',
    ],
    [
      'a delivery wrongly marked as failed',
      ['deliveries_equal_attempts'],
      () => `update deliveries set status = 'failed'`,
      () => `update deliveries set status = 'succeeded'`,
    ],
    [
      'a removed event',
      ['moves_have_events'],
      () => `create table aside as select * from events where resource_id = '${paymentId}' and type = 'payment.settled';
        alter table events disable trigger user;
        delete from events where id in (select id from aside); alter table events enable trigger user`,
      () => 'insert into events select * from aside; drop table aside',
    ],
    [
      'a changed audit row',
      ['audit_trail_is_sealed'],
      () =>
        tampered(
          `update audit set action = 'payments.crate' where resource_id = '${paymentId}' and action = 'payments.create'`,
          'audit',
        ),
      () => tampered(`update audit set action = 'payments.create' where action = 'payments.crate'`, 'audit'),
    ],
    [
      'a removed audit row',
      ['audit_rows_stay_in_organization', 'audit_trail_is_sealed'],
      () => `create table aside as select * from audit where resource_id = '${paymentId}' and action = 'payments.create';
        ${tampered('delete from audit where id in (select id from aside)', 'audit')}`,
      () => 'insert into audit select * from aside; drop table aside',
    ],
    [
      'a customer moved to another organization',
      ['records_equal_history', 'references_stay_in_organization'],
      () => `update customers set org_id = '${globex.orgId}'`,
      () => `update customers set org_id = '${acme.orgId}'`,
    ],
    [
      'a payment with the application of another organization',
      ['references_stay_in_organization'],
      () => `update payments set app_id = '${globex.appId}' where id = '${paymentId}'`,
      () => `update payments set app_id = '${acme.appId}' where id = '${paymentId}'`,
    ],
    [
      'a refund whose payment is in another organization',
      ['payments_equal_refunds', 'records_equal_history', 'references_stay_in_organization'],
      () => `update refunds set org_id = '${globex.orgId}' where payment_id = '${paymentId}'`,
      () => `update refunds set org_id = '${acme.orgId}' where payment_id = '${paymentId}'`,
    ],
    [
      'an event in another organization than its request',
      ['moves_have_events', 'references_stay_in_organization', 'audit_rows_stay_in_organization'],
      () => tampered(movedEvent(acme, globex), 'events'),
      () => tampered(movedEvent(globex, acme), 'events'),
    ],
    [
      'an audit row in another organization than its records and its key',
      [
        ...['references_stay_in_organization', 'audit_rows_stay_in_organization'],
        ...['actors_stay_in_organization', 'audit_trail_is_sealed'],
      ],
      () => tampered(movedAuditRow(acme, globex), 'audit'),
      () => tampered(movedAuditRow(globex, acme), 'audit'),
    ],
  ];

  function movedEvent(from: Tenant, to: Tenant): string {
    return `update events set org_id = '${to.orgId}'
      where org_id = '${from.orgId}' and resource_id = '${paymentId}' and type = 'payment.settled'`;
  }

  function movedAuditRow(from: Tenant, to: Tenant): string {
    return `update audit set org_id = '${to.orgId}'
      where org_id = '${from.orgId}' and resource_id = '${paymentId}' and action = 'payments.create'`;
  }

  function tampered(sql: string, table = 'ledger_entries'): string {
    return `alter table ${table} disable trigger user; ${sql};
      alter table ${table} enable trigger user`;
  }

  test.each(modifications)('detects %s', async (_name, found, modify, revert) => {
    await run(modify());
    const differences = await failedChecks();
    const report = verificationText(await verify(server.database));
    await run(revert());
    expect(differences.map(({ name }) => name)).toEqual(found);
    for (const { differences: few } of differences) {
      const affected = few.map(({ orgId }) => orgId);
      expect(affected.some((orgId) => orgId === acme.orgId || orgId === globex.orgId)).toBe(true);
      for (const { subject, expected, found: seen } of few)
        expect(report).toContain(`${subject}: expected ${expected}, found ${seen}`);
    }
    expect(report).toMatch(/NOT sound\.$/);
  });

  test('the database rejects changing or deleting an entry', async () => {
    await expect(run('update ledger_entries set reason = reason')).rejects.toThrow('append-only');
    await expect(run('delete from ledger_entries')).rejects.toThrow('append-only');
    await expect(run('truncate ledger_entries')).rejects.toThrow('append-only');
    await expect(run('delete from provider_events')).rejects.toThrow('append-only');
  });
});
