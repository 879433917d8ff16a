import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { scopes } from '../../src/kernel/permissions.ts';
import type { Server } from '../../src/server.ts';
import { ApiClient, type Body } from '../support/api-client.ts';
import { openReceiver, type Receiver } from '../support/receiver.ts';
import { databaseKinds, openServer } from '../support/server.ts';
import { createApplication, createOrganization, newPerson, ok, type Person } from '../support/visitor.ts';
import { deliveries, events, replays, webhooks } from '../support/webhooks.ts';

interface Application {
  readonly id: string;
  readonly place: string;
  readonly client: ApiClient;
  readonly webhook: Body;
}

/** Two applications of one organization, each with a key and a webhook, and the person who owns them. */
describe.each(databaseKinds)('webhooks of another application on %s', (kind) => {
  let server: Server;
  let receiver: Receiver;
  let owner: Person;
  let own: Application;
  let other: Application;
  let otherEvent: Body;
  let otherDelivery: Body;
  let otherReplay: Body;

  beforeAll(async () => {
    [server, receiver] = await Promise.all([openServer(kind), openReceiver()]);
    owner = await newPerson(server, 'Olga');
    const orgId = await createOrganization(owner);
    const open = async (name: string): Promise<Application> => {
      const id = await createApplication(owner, orgId, name);
      const place = `${orgId}/${id}`;
      const { key } = ok(await owner.post(`${place}/api_keys`, { name, scopes: [...scopes] }));
      const client = new ApiClient(server.app, String(key));
      ok(await client.post('developer_api_clock/freeze'));
      const webhook = ok(await client.post(webhooks, { url: receiver.url, eventTypes: ['customer.*'] }));
      return { id, place, client, webhook };
    };
    [own, other] = [await open('shop'), await open('billing')];
    otherEvent = ok(await other.client.post(events, { type: 'customer.created' }));
    await receiver.waitFor(1);
    const window = { from: '2020-01-01T00:00:00Z', to: '2100-01-01T00:00:00Z', select: 'all' };
    otherReplay = ok(await other.client.post(`${deliveries}/replay`, window));
    await receiver.waitFor(2);
    const listed = ok(await other.client.get(deliveries, `eventId=${otherEvent.id}`)).data;
    otherDelivery = listed[0] as Body;
    ok(await own.client.post(events, { type: 'customer.created' }));
    await receiver.waitFor(3);
  });
  afterAll(async () => {
    await server?.close();
    await receiver?.close();
  });

  test.each<[action: string, body: object]>([
    ['update', { url: 'http://127.0.0.1:9/' }],
    ['rotate_secret', {}],
    ['disable', {}],
    ['enable', {}],
    ['test', {}],
    ['examine', {}],
  ])('an API key cannot %s them', async (action, body) => {
    const before = ok(await other.client.get(`${webhooks}/${other.webhook.id}`));
    const received = receiver.received.length;
    const answer = await own.client.post(`${webhooks}/${other.webhook.id}/${action}`, body);
    expect(answer.code, answer.text).toBe('resource_not_found');
    expect(answer.text).not.toContain('whsec_');
    const after = ok(await other.client.get(`${webhooks}/${other.webhook.id}`));
    expect(after.version).toBe(before.version);
    expect(receiver.received).toHaveLength(received);
  });

  test('an API key neither retrieves nor lists them, their deliveries or their replays', async () => {
    const foreign = [
      `${webhooks}/${other.webhook.id}`,
      `${deliveries}/${otherDelivery.id}`,
      `${replays}/${otherReplay.id}`,
    ];
    for (const path of foreign) {
      expect((await other.client.get(path)).status, path).toBe(200);
      expect((await own.client.get(path)).code, path).toBe('resource_not_found');
    }
    expect(ok(await own.client.get(webhooks)).data.map(({ id }) => id)).toEqual([own.webhook.id]);
    const listed = ok(await own.client.get(deliveries)).data;
    expect(listed.map(({ webhookId }) => webhookId)).toEqual([own.webhook.id]);
    for (const query of [`webhookId=${other.webhook.id}`, `eventId=${otherEvent.id}`])
      expect(ok(await own.client.get(deliveries, query)).data, query).toEqual([]);
    expect(ok(await own.client.get(replays)).data).toEqual([]);
  });

  test('an API key cannot replay their events, or its own events to them', async () => {
    const received = receiver.received.length;
    const ownEvent = ok(await own.client.get(events)).data.find((one) => one.applicationId === own.id);
    const named = { webhookId: other.webhook.id };
    const window = { from: '2020-01-01T00:00:00Z', to: '2100-01-01T00:00:00Z', select: 'all' };
    expect((await own.client.post(`${events}/${otherEvent.id}/replay`)).code).toBe('resource_not_found');
    const toOwn = { webhookId: own.webhook.id };
    expect((await own.client.post(`${events}/${otherEvent.id}/replay`, toOwn)).code).toBe(
      'resource_not_found',
    );
    expect((await own.client.post(`${events}/${ownEvent?.id}/replay`, named)).code).toBe('webhook_not_found');
    for (const dryRun of [true, false]) {
      const answer = await own.client.post(`${deliveries}/replay`, { ...window, ...named, dryRun });
      expect(answer.code, answer.text).toBe('webhook_not_found');
    }
    ok(await own.client.post('developer_api_clock/advance', { seconds: 1 }));
    expect(receiver.received).toHaveLength(received);
  });

  test('an API key reads the events of the whole organization', async () => {
    expect(ok(await own.client.get(`${events}/${otherEvent.id}`)).applicationId).toBe(other.id);
    const listed = ok(await own.client.get(events, 'limit=100')).data;
    expect(new Set(listed.map(({ applicationId }) => applicationId))).toEqual(new Set([own.id, other.id]));
  });

  test('a person reads and manages the webhooks of all applications of the organization', async () => {
    const read = (path: string) => owner.get(`${own.place}/${path}`);
    const listed = ok(await read(webhooks)).data.map(({ id }) => id);
    expect(listed.toSorted()).toEqual([own.webhook.id, other.webhook.id].toSorted());
    for (const path of [
      `${webhooks}/${other.webhook.id}`,
      `${deliveries}/${otherDelivery.id}`,
      `${replays}/${otherReplay.id}`,
    ])
      expect((await read(path)).status, path).toBe(200);
    expect(ok(await read(replays)).data.map(({ id }) => id)).toContain(otherReplay.id);
    const update = await owner.post(`${own.place}/${webhooks}/${other.webhook.id}/update`, {
      description: 'x',
    });
    expect(update.body.description, update.text).toBe('x');
    expect((await owner.post(`${own.place}/${webhooks}/${other.webhook.id}/test`)).body.status).toBe(
      'succeeded',
    );
    const replayed = await owner.post(`${own.place}/${events}/${otherEvent.id}/replay`, {
      webhookId: own.webhook.id,
    });
    expect(replayed.body.replayed, replayed.text).toBe(1);
  });

  test("retries of a replay to a named webhook follow the clock of the webhook's application", async () => {
    const failing = await openReceiver((_received, response, count) =>
      response.writeHead(count === 1 ? 500 : 204).end(),
    );
    try {
      const { id: webhookId } = ok(
        await other.client.post(webhooks, {
          url: failing.url,
          retryProfile: 'fast',
          eventTypes: ['refund.*'],
        }),
      );
      ok(await other.client.post('developer_api_clock/reset'));
      const ownEvent = ok(await own.client.get(events)).data.find((one) => one.applicationId === own.id);
      ok(await owner.post(`${own.place}/${events}/${ownEvent?.id}/replay`, { webhookId }));
      await failing.waitFor(1);
      await failing.waitFor(2);
    } finally {
      await failing.close();
    }
  });
});
