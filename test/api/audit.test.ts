import { randomUUID } from 'node:crypto';
import { beforeAll, describe, expect, test } from 'vitest';
import type { EventRow } from '../../src/kernel/event.ts';
import { idFrom } from '../../src/kernel/ids.ts';
import { limits } from '../../src/kernel/limits.ts';
import { selectList, type Table } from '../../src/kernel/table.ts';
import { type AuditRow, auditTable } from '../../src/resources/audit/table.ts';
import { eventsTable } from '../../src/resources/events/table.ts';
import { type HistoryRow, historyTable } from '../../src/resources/history/table.ts';
import type { Server } from '../../src/server.ts';
import type { Answer, Body } from '../support/api-client.ts';
import { databaseKinds, sharedServer } from '../support/server.ts';
import { type Tenant, tenant } from '../support/tenant.ts';

const payments = 'developer_api_payments';
const customers = 'developer_api_customers';
const webhooks = 'developer_api_webhooks';
const small = { amount: 1250, currency: 'EUR' };
const unknown = 'cus_01m7epxwjmf7za77rhky2f93cc';
const ip = '192.0.2.44';

describe.each(databaseKinds)('the audit log on %s', (kind) => {
  let server: Server;
  let acme: Tenant;

  beforeAll(async () => {
    server = await sharedServer(kind);
    acme = await tenant(server);
  });

  const rowsOf = <Row>(table: Table<Row>, condition: string, values: readonly unknown[]) =>
    server.database.query<Row>(
      {
        name: '',
        text: `select ${selectList(table, 't')} from ${table.name} t where org_id = $1 and ${condition} order by org_id, request_id`,
      },
      [acme.orgId, ...values],
    );
  const audited = ({ headers }: Answer) =>
    rowsOf<AuditRow>(auditTable, 'request_id = $2', [headers['request-id']]);
  const historyOf = (id: string) => rowsOf<HistoryRow>(historyTable, 'resource_id = $2', [id]);
  const eventsOf = (id: string) => rowsOf<EventRow>(eventsTable, 'resource_id = $2', [id]);
  const post = (path: string, body?: unknown, idempotencyKey: string = randomUUID()) =>
    acme.client.post(path, body, { idempotencyKey, remoteAddress: ip });
  const newCustomer = async () => (await post(customers, { name: 'Ada' })).body.id;

  const expected = (answer: Answer, action: string, more: Partial<AuditRow>): AuditRow => ({
    orgId: acme.orgId,
    id: expect.stringMatching(/^aud_[0-9a-z]{26}$/) as unknown as AuditRow['id'],
    at: expect.any(Number) as unknown as number,
    actorKind: 'api_key',
    actorId: acme.keyId,
    appId: acme.appId,
    action,
    resource: null,
    resourceId: null,
    requestId: idFrom('request', String(answer.headers['request-id'])),
    ip,
    outcome: 'refused',
    code: answer.code,
    ...more,
  });

  describe('has exactly one row', () => {
    test('for each accepted write, with actor, action, record, address and time', async () => {
      const since = Date.now();
      const created = await post(customers, { name: 'Ada' });
      const { id } = created.body;
      const writes: [Answer, string, string, string][] = [
        [created, 'customers.create', 'customer', id],
        [await post(`${customers}/${id}/update`, { phone: '123' }), 'customers.update', 'customer', id],
        [await post(`${customers}/${id}/archive`), 'customers.archive', 'customer', id],
      ];
      const payment = await post(payments, small);
      const paymentId = payment.body.id;
      writes.push([payment, 'payments.create', 'payment', paymentId]);
      const updated = await post(`${payments}/${paymentId}/update`, { description: 'Order 1' });
      writes.push([updated, 'payments.update', 'payment', paymentId]);
      for (const [answer, action, resource, resourceId] of writes) {
        expect(answer.status).toBeLessThan(300);
        const rows = await audited(answer);
        expect(rows).toEqual([expected(answer, action, { outcome: 'accepted', resource, resourceId })]);
        expect(rows[0]?.at).toBeGreaterThanOrEqual(since);
        expect(rows[0]?.at).toBeLessThanOrEqual(Date.now());
      }
    });

    test('for each advance of a payment, a refund and a dispute, regardless of the number of steps', async () => {
      const payment = await post(payments, { ...small, scenario: 'refund_pending' });
      const { id } = payment.body;
      const settled = await post(`${payments}/${id}/advance`, { to: 'settled' });
      const refund = await post(`${payments}/${id}/refund`, { amount: 50 });
      const ended = await post(`developer_api_refunds/${refund.body.id}/advance`, { action: 'succeed' });
      const disputed = await post(`${payments}/${id}/advance`, { action: 'dispute' });
      const disputeId = String(disputed.body.disputeId);
      const won = await post(`developer_api_disputes/${disputeId}/advance`, { to: 'won' });
      const writes: [Answer, string, string, string][] = [
        [settled, 'payments.advance', 'payment', id],
        [refund, 'payments.refund', 'refund', refund.body.id],
        [ended, 'refunds.advance', 'refund', refund.body.id],
        [disputed, 'payments.advance', 'payment', id],
        [won, 'disputes.advance', 'dispute', disputeId],
      ];
      for (const [answer, action, resource, resourceId] of writes) {
        expect(answer.status, answer.text).toBeLessThan(300);
        const row = expected(answer, action, { outcome: 'accepted', resource, resourceId });
        expect(await audited(answer)).toEqual([row]);
      }
      const on = (path: string, body?: unknown) => post(`developer_api_${path}`, body);
      const refundId = refund.body.id;
      const refused: [Answer, string, string, string][] = [
        [await on(`payments/${id}/advance`, { action: 'capture' }), 'payments.advance', 'payment', id],
        [await on(`payments/${id}/refund`, { amount: 9_999 }), 'payments.refund', 'payment', id],
        [await on(`refunds/${refundId}/advance`), 'refunds.advance', 'refund', refundId],
        [
          await on(`disputes/${disputeId}/advance`, { action: 'appeal' }),
          'disputes.advance',
          'dispute',
          disputeId,
        ],
      ];
      for (const [answer, action, resource, resourceId] of refused) {
        expect(answer.status).toBeGreaterThanOrEqual(400);
        expect(await audited(answer)).toEqual([expected(answer, action, { resource, resourceId })]);
      }
    });

    test('for each webhook write, accepted or rejected; a webhook test has a second row when it completes', async () => {
      const url = 'http://127.0.0.1:9/';
      const created = await post(webhooks, { url });
      const { id } = created.body;
      const on = (action: string, body?: unknown) => post(`${webhooks}/${id}/${action}`, body);
      const tested = await on('test');
      const createdEvent = await post('developer_api_webhook_events', { type: 'payment.created' });
      const eventId = createdEvent.body.id;
      const window = { from: '2026-01-01T00:00:00Z', to: '2100-01-01T00:00:00Z', select: 'failed' };
      const replayed = await post('developer_api_webhook_deliveries/replay', window);
      const writes: [Answer, string, string, string][] = [
        [created, 'webhooks.create', 'webhook', id],
        [await on('update', { description: 'x' }), 'webhooks.update', 'webhook', id],
        [await on('rotate_secret'), 'webhooks.rotate_secret', 'webhook', id],
        [await on('disable'), 'webhooks.disable', 'webhook', id],
        [await on('enable'), 'webhooks.enable', 'webhook', id],
        [createdEvent, 'webhook_events.create', 'event', eventId],
        [
          await post(`developer_api_webhook_events/${eventId}/replay`),
          'webhook_events.replay',
          'event',
          eventId,
        ],
        [replayed, 'webhook_deliveries.replay', 'replay', replayed.body.id],
      ];
      for (const [answer, action, resource, resourceId] of writes) {
        expect(answer.status, answer.text).toBeLessThan(300);
        const row = expected(answer, action, { outcome: 'accepted', resource, resourceId });
        expect(await audited(answer)).toEqual([row]);
      }
      expect(await audited(tested)).toEqual(
        expect.arrayContaining([
          expected(tested, 'webhooks.test', { outcome: 'accepted', resource: 'webhook', resourceId: id }),
          expected(tested, 'webhooks.conclude_test', {
            outcome: 'accepted',
            resource: 'delivery',
            resourceId: tested.body.id,
          }),
        ]),
      );
      expect(await audited(tested)).toHaveLength(2);
      const unknownWebhook = 'whk_01m7epxwjmf7za77rhky2f93cc';
      const refused: [answer: Answer, action: string, target?: Partial<AuditRow>][] = [
        [await post(webhooks, { url: '' }), 'webhooks.create'],
        [await post(webhooks, { url: 'ftp://example.test/' }), 'webhooks.create'],
        [await on('enable'), 'webhooks.enable', { resource: 'webhook', resourceId: id }],
        [await post(`${webhooks}/${unknownWebhook}/update`, { description: 'x' }), 'webhooks.update'],
        [await post(`${webhooks}/${unknownWebhook}/rotate_secret`), 'webhooks.rotate_secret'],
        [await post(`${webhooks}/${unknownWebhook}/test`), 'webhooks.test'],
        [await post('developer_api_webhook_events', { type: 'x' }), 'webhook_events.create'],
        [
          await post(`developer_api_webhook_events/${eventId}/replay`, { webhookId: unknownWebhook }),
          'webhook_events.replay',
          { resource: 'event', resourceId: eventId },
        ],
        [
          await post('developer_api_webhook_deliveries/replay', { ...window, to: window.from }),
          'webhook_deliveries.replay',
        ],
      ];
      for (const [answer, action, target = {}] of refused) {
        expect(answer.status).toBeGreaterThanOrEqual(400);
        expect(await audited(answer), answer.text).toEqual([expected(answer, action, target)]);
      }
    });

    test('for each rejected write, for every kind of rejection', async () => {
      const archivedId = await newCustomer();
      await post(`${customers}/${archivedId}/archive`);
      const used = randomUUID();
      await post(payments, small, used);
      const raw = (content: string, headers: Record<string, string> = {}) =>
        acme.client.post(payments, undefined, { raw: content, headers, remoteAddress: ip });
      const refusals: [status: number, answer: Answer, action: string, target?: Partial<AuditRow>][] = [
        [400, await post(payments, { ...small, amount: 0 }), 'payments.create'],
        [400, await raw('{'), 'payments.create'],
        [400, await post(payments, small, ''), 'payments.create'],
        [400, await raw('{}', { 'api-version': 'x' }), 'payments.create'],
        [403, await raw('{}', { 'sandbank-organization': 'org_x' }), 'payments.create'],
        [404, await post(`${customers}/${unknown}/update`, { name: 'Ada' }), 'customers.update'],
        [404, await post(`${customers}/nonsense/archive`), 'customers.archive'],
        [404, await post(`${payments}/nonsense/update`, { metadata: {} }), 'payments.update'],
        [
          409,
          await post(`${customers}/${archivedId}/archive`),
          'customers.archive',
          { resource: 'customer', resourceId: archivedId },
        ],
        [413, await raw(' '.repeat(limits.bodyBytesMax + 1)), 'payments.create'],
        [415, await raw('{}', { 'content-type': 'text/plain' }), 'payments.create'],
        [422, await post(payments, { ...small, currency: 'XXX' }), 'payments.create'],
        [422, await post(payments, { ...small, customerId: unknown }), 'payments.create'],
        [422, await post(payments, { ...small, customerId: archivedId }), 'payments.create'],
        [422, await post(payments, { ...small, amount: 1 }, used), 'payments.create'],
      ];
      for (const [status, answer, action, target = {}] of refusals) {
        expect(answer.status).toBe(status);
        expect(await audited(answer), `${status} ${answer.code}`).toEqual([expected(answer, action, target)]);
      }
    });

    test('for a write and for a read for which the key lacks the scope', async () => {
      const scopeless = await acme.addKey({ scopes: [] });
      const refusals: [Answer, string][] = [
        [await scopeless.client.post(payments, small, { remoteAddress: ip }), 'payments.create'],
        [await scopeless.client.get(payments, '', { remoteAddress: ip }), 'listPayments'],
        [await scopeless.client.get(`${customers}/x`, '', { remoteAddress: ip }), 'retrieveCustomer'],
      ];
      for (const [answer, action] of refusals) {
        expect(answer.code).toBe('scope_missing');
        expect(await audited(answer)).toEqual([expected(answer, action, { actorId: scopeless.keyId })]);
      }
    });

    test('for a request with a revoked key or from an address outside the allowed networks', async () => {
      const revoked = await acme.addKey({ revoked: true });
      const restricted = await acme.addKey({ allowedCidrs: ['10.0.0.0/8'] });
      for (const holder of [revoked, restricted]) {
        const answer = await holder.client.get(payments, '', { remoteAddress: ip });
        expect(await audited(answer)).toEqual([expected(answer, 'listPayments', { actorId: holder.keyId })]);
      }
    });
  });

  describe('has no row', () => {
    test('for an idempotent replay, accepted or rejected', async () => {
      for (const body of [small, { ...small, currency: 'XXX' }]) {
        const key = randomUUID();
        const first = await post(payments, body, key);
        const replay = await post(payments, body, key);
        expect(replay.headers['idempotent-replayed']).toBe('true');
        expect(await audited(first)).toHaveLength(1);
        expect(await audited(replay)).toEqual([]);
      }
    });

    test('for reads, whether the record exists or not', async () => {
      const answers = [
        await acme.client.get(payments),
        await acme.client.get(`${payments}/x`),
        await acme.client.get(payments, 'limit=0'),
        await acme.client.get(payments, 'cursor=x'),
      ];
      for (const answer of answers) expect(await audited(answer)).toEqual([]);
    });
  });

  test('no secret appears in the audit log, the history, the events or the stored responses', async () => {
    await post(payments, small);
    await acme.client.post(payments, { key: acme.key });
    await acme.client.get(`${payments}/${acme.key}`);
    const { id } = (await post(webhooks, { url: 'http://127.0.0.1:9/' })).body;
    await post(`${webhooks}/${id}/rotate_secret`);
    for (const table of ['audit', 'state_history', 'events', 'idempotency']) {
      const [found] = await server.database.query<{ rows: number; secrets: number }>(
        {
          name: '',
          text: `select count(*)::integer as rows, count(*) filter (where t::text ~ 'sbk_sandbox_|whsec_')::integer as secrets from ${table} t where org_id = $1`,
        },
        [acme.orgId],
      );
      expect(found?.rows, table).toBeGreaterThan(0);
      expect(found?.secrets, table).toBe(0);
    }
  });

  describe('history and events', () => {
    test('record each transition in order, with the resource exactly as in the response', async () => {
      const created = await post(customers, { name: 'Ada', metadata: { b: '1', a: '2' } });
      const { id } = created.body;
      const updated = await post(`${customers}/${id}/update`, { email: 'ada@example.test' });
      const archived = await post(`${customers}/${id}/archive`);
      const answers = [created, updated, archived];
      const moves = [
        { action: 'create', fromStatus: null, toStatus: 'active', type: 'customer.created' },
        { action: 'update', fromStatus: 'active', toStatus: 'active', type: 'customer.updated' },
        { action: 'archive', fromStatus: 'active', toStatus: 'archived', type: 'customer.archived' },
      ];
      const [history, events] = [await historyOf(id), await eventsOf(id)];
      expect(history).toHaveLength(3);
      expect(events).toHaveLength(3);
      answers.forEach((answer, i) => {
        const { type, ...move } = moves[i] ?? {};
        const event = events[i];
        expect(history[i]).toEqual({
          orgId: acme.orgId,
          resourceId: id,
          version: i + 1,
          resource: 'customer',
          ...move,
          eventId: event?.id,
          actorKind: 'api_key',
          actorId: acme.keyId,
          requestId: answer.headers['request-id'],
          at: Date.parse(String(answer.body.updatedAt)),
        });
        expect(event).toMatchObject({
          id: expect.stringMatching(/^evt_[0-9a-z]{26}$/),
          appId: acme.appId,
          type,
          resource: 'customer',
          resourceId: id,
          sequence: i + 1,
          requestId: answer.headers['request-id'],
          createdAt: Date.parse(String(answer.body.updatedAt)),
        });
        // Byte for byte: the data is signed later without any change.
        expect(event?.data).toBe(answer.text.replace(`,"requestId":"${answer.body.requestId}"`, ''));
      });
    });

    test('record the creation of a payment', async () => {
      const created = await post(payments, { ...small, description: 'Ä "quoted" \\ 🎉' });
      const [history, events] = [await historyOf(created.body.id), await eventsOf(created.body.id)];
      expect(history).toMatchObject([
        { version: 1, action: 'create', fromStatus: null, toStatus: 'pending' },
      ]);
      expect(events).toMatchObject([{ type: 'payment.created', sequence: 1, id: history[0]?.eventId }]);
      const { requestId: _requestId, ...resource } = created.body as Body;
      expect(JSON.parse(events[0]?.data ?? '')).toEqual(resource);
    });

    test('record nothing for a rejected or replayed request', async () => {
      const id = await newCustomer();
      const key = randomUUID();
      await post(`${customers}/${id}/archive`, undefined, key);
      await post(`${customers}/${id}/archive`, undefined, key);
      await post(`${customers}/${id}/archive`);
      await post(`${customers}/${id}/update`, { name: 'x' });
      expect(await historyOf(id)).toHaveLength(2);
      expect(await eventsOf(id)).toHaveLength(2);
    });

    test('store history for API keys and organizations without emitting an event', async () => {
      const history = await historyOf(acme.keyId);
      expect(history).toMatchObject([
        { action: 'create', actorKind: 'system', actorId: 'seed', eventId: null },
      ]);
      expect(await eventsOf(acme.keyId)).toEqual([]);
    });
  });

  describe.each(['state_history', 'events', 'audit'])('%s is append-only:', (table) => {
    test.each([
      `update ${table} set request_id = 'req_other'`,
      `delete from ${table}`,
      `truncate ${table}`,
      `truncate ${table} cascade`,
    ])('the database rejects "%s"', async (sql) => {
      await post(payments, small);
      const count = async () => {
        const text = `select count(*)::integer as n from ${table}`;
        const [row] = await server.database.query<{ n: number }>({ name: '', text }, []);
        return row?.n ?? 0;
      };
      const before = await count();
      expect(before).toBeGreaterThan(0);
      await expect(server.database.script(sql)).rejects.toThrow(`${table} is append-only`);
      expect(await count()).toBe(before);
    });
  });
});
