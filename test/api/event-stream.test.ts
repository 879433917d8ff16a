import { once } from 'node:events';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import Fastify, { type FastifyInstance } from 'fastify';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, inject, test, vi } from 'vitest';
import { EventStreams } from '../../src/http/event-stream.ts';
import type { Id } from '../../src/kernel/ids.ts';
import { firstIdAt } from '../../src/kernel/ids.ts';
import type { Server } from '../../src/server.ts';
import { type Listener, listenTo, soon } from '../support/listener.ts';
import { migratedDatabase } from '../support/postgres.ts';
import { databaseKinds, openServer, sharedServer } from '../support/server.ts';
import { type Tenant, tenant } from '../support/tenant.ts';

interface StreamedEvent {
  readonly id: string;
  readonly data: { readonly resourceId: string; readonly type: string };
}

describe.each(databaseKinds)('the event stream on %s', (kind) => {
  let server: Server;
  let acme: Tenant;
  let other: Tenant;
  let app: FastifyInstance;
  let streams: EventStreams;
  const opened = new Set<http.ClientRequest>();

  beforeAll(async () => {
    server = await sharedServer(kind);
    [acme, other] = [await tenant(server), await tenant(server)];
    streams = server.eventStreams;
    app = Fastify();
    app.get('/:orgId', (request, reply) => {
      reply.hijack();
      const { orgId } = request.params as { orgId: Id<'organization'> };
      if (!streams.open(orgId, reply.raw)) reply.raw.writeHead(503).end();
    });
    await app.listen({ port: 0, host: '127.0.0.1' });
  });
  afterAll(async () => {
    for (const request of opened) request.destroy();
    app?.server.closeAllConnections();
    await app?.close();
  });

  async function listen(orgId: string, headers: Record<string, string> = {}) {
    const { port } = app.server.address() as AddressInfo;
    const request = http.get({ port, host: '127.0.0.1', path: `/${orgId}`, headers, agent: false });
    opened.add(request);
    request.on('error', () => undefined);
    const [response] = (await once(request, 'response')) as [http.IncomingMessage];
    let text = '';
    let parsedTo = 0;
    const parsed: StreamedEvent[] = [];
    response.setEncoding('utf8').on('data', (part: string) => {
      text += part;
    });
    response.on('error', () => undefined);
    // Parses each message once: tests read often, and some streams have megabytes.
    const events = (): readonly StreamedEvent[] => {
      for (let end = text.indexOf('\n\n', parsedTo); end !== -1; end = text.indexOf('\n\n', parsedTo)) {
        const [, id = '', data] =
          /^id: (\S+)\nevent: event\ndata: (.+)$/m.exec(text.slice(parsedTo, end)) ?? [];
        if (data !== undefined) parsed.push({ id, data: JSON.parse(data) as StreamedEvent['data'] });
        parsedTo = end + 2;
      }
      return [...parsed];
    };
    return { request, response, events, text: () => text };
  }
  const pay = async (holder = acme) =>
    (await holder.client.post('developer_api_payments', { amount: 100, currency: 'EUR' })).body.id;
  const soon = (check: () => void) => vi.waitFor(check, { interval: 10 });
  /** Writes an event as another node would, with a chosen id and without notifying this process. */
  const write = (orgId: string, id: string) =>
    server.database.script(`insert into events (org_id, id, app_id, type, resource, resource_id, sequence, request_id, data, created_at)
      values ('${orgId}', '${id}', 'app_x', 'payment.created', 'payment', '${id}', 1, 'req_x', '{"id":"x"}', now())`);

  test('sends each new event at once, as the API returns it, and no earlier event', async () => {
    await pay();
    const { response, events, text } = await listen(acme.orgId);
    expect(response.headers['content-type']).toBe('text/event-stream; charset=utf-8');
    const [first, second] = [await pay(), await pay()];
    await soon(() => expect(events().map(({ data }) => data.resourceId)).toEqual([first, second]));
    expect(text()).toMatch(/^retry: \d+\n\n/);
    const [event] = events();
    const shown = await acme.client.get(`developer_api_webhook_events/${event?.id}`);
    const { requestId: _requestId, ...rest } = shown.body;
    expect(event?.data).toEqual(rest);
  });

  test('never sends events of another organization', async () => {
    const stream = await listen(other.orgId);
    await pay();
    const ownPayment = await pay(other);
    await soon(() => expect(stream.events().map(({ data }) => data.resourceId)).toEqual([ownPayment]));
  });

  test('sends events of other nodes, also when they become visible late, each once', async () => {
    const stream = await listen(acme.orgId);
    const now = Date.now();
    const [late, later, last] = [now - 55_000, now - 2_000, now + 1].map((at) => firstIdAt('event', at));
    for (const id of [last, later, late]) {
      await write(acme.orgId, id ?? '');
      await soon(() => expect(stream.events().at(-1)?.id).toBe(id));
    }
    await pay();
    await soon(() => expect(stream.events()).toHaveLength(4));
  });

  test('resumes after Last-Event-ID without gaps and without duplicates', async () => {
    const org = await tenant(server);
    const first = await listen(org.orgId);
    await pay(org);
    const before = await pay(org);
    await soon(() => expect(first.events()).toHaveLength(2));
    const [older, last] = first.events().map(({ id }) => id);
    first.request.destroy();
    const missed = [await pay(org), await pay(org)];
    const again = await listen(org.orgId, { 'Last-Event-ID': last ?? '' });
    const fromBefore = await listen(org.orgId, { 'Last-Event-ID': older ?? '' });
    const next = await pay(org);
    const resourcesOf = (stream: typeof again) => stream.events().map(({ data }) => data.resourceId);
    await soon(() => expect(resourcesOf(again)).toEqual([...missed, next]));
    await soon(() => expect(resourcesOf(fromBefore)).toEqual([before, ...missed, next]));
  });

  test('sends all missed events, regardless of number and age, each once and in order', async () => {
    const org = await tenant(server);
    const longAgo = Date.now() - 5 * 3_600_000;
    const idAt = (at: number) => firstIdAt('event', longAgo + at * 1_000);
    const rows = Array.from(
      { length: 1_301 },
      (_, at) => `('${org.orgId}', '${idAt(at)}', 'app_x',
      'payment.created', 'payment', '${idAt(at)}', 1, 'req_x', '{"id":"x"}', now())`,
    );
    await server.database.script(`insert into events (org_id, id, app_id, type, resource, resource_id, sequence,
      request_id, data, created_at) values ${rows.join(',')}`);
    const stream = await listen(org.orgId, { 'Last-Event-ID': idAt(0) });
    const during = await pay(org);
    await soon(() => expect(stream.events()).toHaveLength(1_301));
    const after = await pay(org);
    await soon(() => expect(stream.events()).toHaveLength(1_302));
    const expected = Array.from({ length: 1_300 }, (_, at) => idAt(at + 1));
    expect(stream.events().map(({ data }) => data.resourceId)).toEqual([...expected, during, after]);
  });

  test.each(['', 'nonsense', 'pay_01m7epxwjmf7za77rhky2f93cc'])(
    'ignores the malformed Last-Event-ID "%s"',
    async (lastId) => {
      const stream = await listen(acme.orgId, { 'Last-Event-ID': lastId });
      const id = await pay();
      // The previous test's feed may still have sent its last event.
      await soon(() => expect(stream.events().at(-1)?.data.resourceId).toBe(id));
      expect(stream.events().length).toBeLessThanOrEqual(2);
    },
  );

  test('accepts twenty streams per organization, no more, and another one when one closes', async () => {
    const fullOrg = await tenant(server);
    const openStreams = await Promise.all(Array.from({ length: 20 }, () => listen(fullOrg.orgId)));
    expect((await listen(fullOrg.orgId)).response.statusCode).toBe(503);
    const count = streams.count;
    openStreams[0]?.request.destroy();
    await soon(() => expect(streams.count).toBe(count - 1));
    expect((await listen(fullOrg.orgId)).response.statusCode).toBe(200);
  });

  describe('with low limits', () => {
    const settings = () => ({ reader: server.reader, wallClock: Date.now, onError: () => undefined });

    test('pings, rejects streams above the node limit, and ends its streams on close', async () => {
      const defaultStreams = streams;
      streams = new EventStreams({ ...settings(), streamsMax: 2, pingMs: 20 });
      const one = await listen(acme.orgId);
      const two = await listen(other.orgId);
      expect((await listen(acme.orgId)).response.statusCode).toBe(503);
      await soon(() => expect(two.text()).toContain('event: ping\ndata: {}\n\n'));
      const ended = Promise.all([one, two].map(({ response }) => once(response, 'end')));
      streams.close();
      await ended;
      expect((await listen(acme.orgId)).response.statusCode).toBe(503);
      streams = defaultStreams;
    });

    test('disconnects a client that does not read, and continues to send to the others', async () => {
      const defaultStreams = streams;
      streams = new EventStreams({ ...settings(), bufferBytesMax: 4 * 1024 * 1024 });
      const slow = await listen(acme.orgId);
      const quick = await listen(acme.orgId);
      slow.response.pause();
      const gone = new Promise((resolve) => slow.response.on('close', resolve));
      const data = { text: 'x'.repeat(200_000) };
      let emitted = 0;
      // Ten fit into the buffer limit; the system buffers hold a few more megabytes.
      while (emitted < 150 && streams.count === 2) {
        const body = { type: 'payment.created', data };
        const posted = Array.from({ length: 10 }, () =>
          acme.client.post('developer_api_webhook_events', body),
        );
        for (const { status } of await Promise.all(posted)) expect(status).toBe(201);
        emitted += posted.length;
        await soon(() => expect(quick.events()).toHaveLength(emitted));
      }
      slow.response.resume();
      await gone;
      expect(streams.count).toBe(1);
      expect(quick.events()).toHaveLength(emitted);
      streams.close();
      streams = defaultStreams;
    });
  });
});

describe('transactions that commit out of order', () => {
  let server: Server;
  let url: string;
  let databaseUrl: string;
  let acme: Tenant;
  const clients: pg.Client[] = [];

  beforeAll(async () => {
    databaseUrl = await migratedDatabase(inject('postgresUrl'));
    server = await openServer('postgres', { databaseUrl });
    url = await server.listen();
    acme = await tenant(server);
  });
  afterAll(async () => {
    await Promise.all(clients.map((client) => client.end()));
    await server?.close();
  });

  const connect = async (to = databaseUrl) => {
    const client = new pg.Client({ connectionString: to });
    await client.connect();
    clients.push(client);
    return client;
  };
  const write = (client: pg.Client, id: string) =>
    client.query(
      `insert into events (org_id, id, app_id, type, resource, resource_id, sequence, request_id, data, created_at)
        values ($1, $2, $3, 'payment.created', 'payment', $2, 1, 'req_x', '{"id":"x"}', now())`,
      [acme.orgId, id, acme.appId],
    );
  const listen = (lastId?: string) =>
    listenTo(`${url}/_api/developer_api_webhook_events/stream`, {
      authorization: `Bearer ${acme.key}`,
      ...(lastId === undefined ? {} : { 'last-event-id': lastId }),
    });
  const idsOf = (listener: Listener) => listener.sent('event').map(({ id }) => id);

  test('are sent in one order, from which every stream resumes exactly', async () => {
    const [first, second] = [await connect(), await connect()];
    const base = Date.now();
    // The transaction that begins first commits last, once with the earlier id and once with the later one.
    for (const [early, late] of [
      [1, 2],
      [4, 3],
    ] as const) {
      const [a, b] = [firstIdAt('event', base + early), firstIdAt('event', base + late)];
      const live = await listen();
      await first.query('begin');
      await write(first, a);
      await write(second, b);
      const { id: paid } = (
        await acme.client.post('developer_api_payments', { amount: 100, currency: 'EUR' })
      ).body;
      await first.query('commit');
      await soon(() => expect(idsOf(live)).toHaveLength(3));
      expect(idsOf(live).slice(0, 2)).toEqual([a, b]);
      expect(live.sent('event')[2]?.data.resourceId).toBe(paid);
      for (const [at, id] of idsOf(live).entries()) {
        const resumed = await listen(id);
        const { id: marker } = (
          await acme.client.post('developer_api_payments', { amount: 100, currency: 'EUR' })
        ).body;
        await soon(() => expect(resumed.sent('event').at(-1)?.data.resourceId).toBe(marker));
        // After it come the rest of the three, then the markers of the rounds so far.
        expect(idsOf(resumed).slice(0, 2 - at)).toEqual(idsOf(live).slice(at + 1, 3));
        expect(idsOf(resumed)).toHaveLength(2 - at + at + 1);
        resumed.close();
      }
      live.close();
    }
  });

  test('do not wait for transactions of another database', async () => {
    const elsewhere = await connect(inject('postgresUrl'));
    await elsewhere.query('begin');
    await elsewhere.query('select pg_current_xact_id()');
    const live = await listen();
    const { id } = (await acme.client.post('developer_api_payments', { amount: 100, currency: 'EUR' })).body;
    await soon(() => expect(live.sent('event').map(({ data }) => data.resourceId)).toEqual([id]));
    await elsewhere.query('rollback');
    live.close();
  });
});
