import { once } from 'node:events';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import Fastify, { type FastifyInstance } from 'fastify';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, inject, test, vi } from 'vitest';
import { EventStreams } from '../../src/http/event-stream.ts';
import { firstIdAt } from '../../src/kernel/ids.ts';
import type { Server } from '../../src/server.ts';
import { type Listener, listenTo, soon } from '../support/listener.ts';
import { migratedDatabase } from '../support/postgres.ts';
import { databaseKinds, openServer, sharedServer } from '../support/server.ts';
import { type Tenant, tenant } from '../support/tenant.ts';

interface Told {
  readonly id: string;
  readonly data: { readonly resourceId: string; readonly type: string };
}

describe.each(databaseKinds)('the stream of events on %s', (kind) => {
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
      const { orgId } = request.params as { orgId: string };
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
    const told: Told[] = [];
    response.setEncoding('utf8').on('data', (part: string) => {
      text += part;
    });
    response.on('error', () => undefined);
    // Each message is parsed once: tests ask often, and some read megabytes.
    const events = (): readonly Told[] => {
      for (let end = text.indexOf('\n\n', parsedTo); end !== -1; end = text.indexOf('\n\n', parsedTo)) {
        const [, id = '', data] =
          /^id: (\S+)\nevent: event\ndata: (.+)$/m.exec(text.slice(parsedTo, end)) ?? [];
        if (data !== undefined) told.push({ id, data: JSON.parse(data) as Told['data'] });
        parsedTo = end + 2;
      }
      return [...told];
    };
    return { request, response, events, text: () => text };
  }
  const pay = async (whose = acme) =>
    (await whose.client.post('developer_api_payments', { amount: 100, currency: 'EUR' })).body.id;
  const soon = (check: () => void) => vi.waitFor(check, { interval: 10 });
  /** As another node would have written it, and with an id of its choice: this process is told nothing. */
  const write = (orgId: string, id: string) =>
    server.database.script(`insert into events (org_id, id, app_id, type, resource, resource_id, sequence, request_id, data, created_at)
      values ('${orgId}', '${id}', 'app_x', 'payment.created', 'payment', '${id}', 1, 'req_x', '{"id":"x"}', now())`);

  test('tells each new event as the API shows it, at once, and none of before', async () => {
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

  test('never tells of another organization', async () => {
    const stream = await listen(other.orgId);
    await pay();
    const own = await pay(other);
    await soon(() => expect(stream.events().map(({ data }) => data.resourceId)).toEqual([own]));
  });

  test('tells what other nodes have written, also when it became visible late, and each once', async () => {
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

  test('goes on behind Last-Event-ID: nothing is left out, and nothing comes twice', async () => {
    const own = await tenant(server);
    const first = await listen(own.orgId);
    await pay(own);
    const before = await pay(own);
    await soon(() => expect(first.events()).toHaveLength(2));
    const [older, last] = first.events().map(({ id }) => id);
    first.request.destroy();
    const missed = [await pay(own), await pay(own)];
    const again = await listen(own.orgId, { 'Last-Event-ID': last ?? '' });
    const fromBefore = await listen(own.orgId, { 'Last-Event-ID': older ?? '' });
    const next = await pay(own);
    const resourcesOf = (stream: typeof again) => stream.events().map(({ data }) => data.resourceId);
    await soon(() => expect(resourcesOf(again)).toEqual([...missed, next]));
    await soon(() => expect(resourcesOf(fromBefore)).toEqual([before, ...missed, next]));
  });

  test('sends all events that were missed, however many and however long ago, each once and in order', async () => {
    const own = await tenant(server);
    const longAgo = Date.now() - 5 * 3_600_000;
    const idAt = (at: number) => firstIdAt('event', longAgo + at * 1_000);
    const rows = Array.from(
      { length: 1_301 },
      (_, at) => `('${own.orgId}', '${idAt(at)}', 'app_x',
      'payment.created', 'payment', '${idAt(at)}', 1, 'req_x', '{"id":"x"}', now())`,
    );
    await server.database.script(`insert into events (org_id, id, app_id, type, resource, resource_id, sequence,
      request_id, data, created_at) values ${rows.join(',')}`);
    const stream = await listen(own.orgId, { 'Last-Event-ID': idAt(0) });
    const during = await pay(own);
    await soon(() => expect(stream.events()).toHaveLength(1_301));
    const after = await pay(own);
    await soon(() => expect(stream.events()).toHaveLength(1_302));
    const expected = Array.from({ length: 1_300 }, (_, at) => idAt(at + 1));
    expect(stream.events().map(({ data }) => data.resourceId)).toEqual([...expected, during, after]);
  });

  test.each(['', 'nonsense', 'pay_01m7epxwjmf7za77rhky2f93cc'])(
    'takes a Last-Event-ID that is none, "%s", for none',
    async (lastId) => {
      const stream = await listen(acme.orgId, { 'Last-Event-ID': lastId });
      const id = await pay();
      // The feed of the test before may still have had its last event to tell.
      await soon(() => expect(stream.events().at(-1)?.data.resourceId).toBe(id));
      expect(stream.events().length).toBeLessThanOrEqual(2);
    },
  );

  test('takes twenty streams of an organization, no more, and one again when one has gone', async () => {
    const crowd = await tenant(server);
    const taken = await Promise.all(Array.from({ length: 20 }, () => listen(crowd.orgId)));
    expect((await listen(crowd.orgId)).response.statusCode).toBe(503);
    const count = streams.count;
    taken[0]?.request.destroy();
    await soon(() => expect(streams.count).toBe(count - 1));
    expect((await listen(crowd.orgId)).response.statusCode).toBe(200);
  });

  describe('of small bounds', () => {
    const settings = () => ({ reader: server.reader, wallClock: Date.now, onError: () => undefined });

    test('pings, refuses beyond the bound of the node, and ends its streams when it is closed', async () => {
      const usual = streams;
      streams = new EventStreams({ ...settings(), streamsMax: 2, pingMs: 20 });
      const one = await listen(acme.orgId);
      const two = await listen(other.orgId);
      expect((await listen(acme.orgId)).response.statusCode).toBe(503);
      await soon(() => expect(two.text()).toContain('event: ping\ndata: {}\n\n'));
      const ended = Promise.all([one, two].map(({ response }) => once(response, 'end')));
      streams.close();
      await ended;
      expect((await listen(acme.orgId)).response.statusCode).toBe(503);
      streams = usual;
    });

    test('cuts a reader off that does not read, and tells the others', async () => {
      const usual = streams;
      streams = new EventStreams({ ...settings(), bufferBytesMax: 4 * 1024 * 1024 });
      const slow = await listen(acme.orgId);
      const quick = await listen(acme.orgId);
      slow.response.pause();
      const gone = new Promise((resolve) => slow.response.on('close', resolve));
      const data = { text: 'x'.repeat(200_000) };
      let made = 0;
      // Ten fit into the bound; the system's own buffers hold some megabytes besides.
      while (made < 150 && streams.count === 2) {
        const body = { type: 'payment.created', data };
        const posted = Array.from({ length: 10 }, () =>
          acme.client.post('developer_api_webhook_events', body),
        );
        for (const { status } of await Promise.all(posted)) expect(status).toBe(201);
        made += posted.length;
        await soon(() => expect(quick.events()).toHaveLength(made));
      }
      slow.response.resume();
      await gone;
      expect(streams.count).toBe(1);
      expect(quick.events()).toHaveLength(made);
      streams.close();
      streams = usual;
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

  test('are sent in one order, in which every stream goes on exactly', async () => {
    const [first, second] = [await connect(), await connect()];
    const base = Date.now();
    // The one that begins first commits last, once with the earlier id and once with the later one.
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
        // Behind it the rest of the three, then the markers of the rounds so far.
        expect(idsOf(resumed).slice(0, 2 - at)).toEqual(idsOf(live).slice(at + 1, 3));
        expect(idsOf(resumed)).toHaveLength(2 - at + at + 1);
        resumed.close();
      }
      live.close();
    }
  });

  test('wait for no transaction of another database', async () => {
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
