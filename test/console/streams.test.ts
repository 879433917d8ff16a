import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { EventStreams } from '../../src/http/event-stream.ts';
import type { Server } from '../../src/server.ts';
import { type Listener, listenTo, soon } from '../support/listener.ts';
import { migratedDatabase } from '../support/postgres.ts';
import { openApp, openServer } from '../support/server.ts';
import {
  found,
  goodPassword,
  type House,
  house,
  join,
  newcomer,
  ok,
  type Person,
  register,
  Visitor,
} from '../support/visitor.ts';

// A second by the contract, and what a busy machine adds.
const endMsMax = 20_000;

describe('a stream of the console', () => {
  let here: Server;
  let there: Server;
  let url: string;
  let acme: House;
  const open = new Set<Listener>();

  beforeAll(async () => {
    const databaseUrl = await migratedDatabase(inject('postgresUrl'));
    const secret = 's'.repeat(32);
    here = await openServer('postgres', { databaseUrl, secret });
    there = await openServer('postgres', { databaseUrl, secret });
    url = await here.listen();
    acme = await house(here);
  });
  afterAll(async () => {
    for (const listener of open) listener.close();
    await Promise.all([here?.close(), there?.close()]);
  });

  const listen = async (
    person: Visitor,
    place = `${acme.orgId}/${acme.appId}`,
    at = url,
  ): Promise<Listener> => {
    const cookie = [...person.cookies].map(([name, value]) => `${name}=${value}`).join('; ');
    const headers = { cookie, 'sec-fetch-site': 'same-origin' };
    const listener = await listenTo(`${at}/console/api/${place}/event_stream`, headers);
    open.add(listener);
    return listener;
  };
  const pay = async () =>
    ok(
      await acme.owner.post(`${acme.orgId}/${acme.appId}/developer_api_payments`, {
        ...{ amount: 100, currency: 'EUR' },
      }),
    ).id;
  const resourcesOf = (listener: Listener) => listener.sent('event').map(({ data }) => data.resourceId);

  const ends: Readonly<Record<string, (person: Person) => ReturnType<Visitor['post']>>> = {
    'sign-out': (person) => person.post('session/sign_out'),
    'a sign-out through another node': (person) => person.at(there.app).post('session/sign_out'),
    removal: ({ memberId }) => acme.owner.post(`${acme.orgId}/members/${memberId}/remove`),
    'removal through another node': ({ memberId }) =>
      acme.owner.at(there.app).post(`${acme.orgId}/members/${memberId}/remove`),
    'a change of the role': ({ memberId }) =>
      acme.owner.post(`${acme.orgId}/members/${memberId}/role`, { role: 'viewer' }),
    'a change of the role through another node': ({ memberId }) =>
      acme.owner.at(there.app).post(`${acme.orgId}/members/${memberId}/role`, { role: 'viewer' }),
  };

  test.each(Object.entries(ends))('ends within a second of %s', async (_name, end) => {
    const person = await newcomer(here);
    await join(person, acme.owner, acme.orgId, 'developer');
    const [leaving, staying] = [await listen(person), await listen(acme.owner)];
    const before = await pay();
    await soon(() => expect(resourcesOf(leaving)).toEqual([before]));
    ok(await end(person));
    const since = performance.now();
    await leaving.end;
    expect(performance.now() - since).toBeLessThan(endMsMax);
    const after = await pay();
    await soon(() => expect(resourcesOf(staying)).toEqual([before, after]));
    expect(resourcesOf(leaving)).toEqual([before]);
    staying.close();
  });

  test('ends when another device ends the session', async () => {
    const person = await newcomer(here);
    const orgId = await found(person);
    const appId = await register(person, orgId);
    const listener = await listen(person, `${orgId}/${appId}`);
    const other = new Visitor(here.app);
    ok(await other.post('session/sign_in', { email: person.email, password: goodPassword }));
    ok(await other.post('session/devices/revoke_others'));
    await listener.end;
  });

  test('is one of ten that a person may have over all organizations', async () => {
    const person = await newcomer(here);
    const places: string[] = [];
    for (let at = 0; at < 3; at += 1) {
      const orgId = await found(person, `Org ${at}`);
      places.push(`${orgId}/${await register(person, orgId)}`);
    }
    const streams = await Promise.all(Array.from({ length: 10 }, (_, at) => listen(person, places[at % 3])));
    expect(new Set(streams.map(({ response }) => response.statusCode))).toEqual(new Set([200]));
    expect((await listen(person, places[0])).response.statusCode).toBe(503);
    expect((await listen(acme.owner)).response.statusCode).toBe(200);
    streams[0]?.close();
    await soon(async () => expect((await listen(person, places[0])).response.statusCode).toBe(200));
  });

  test('of an organization with few has room when others have taken the whole server', async () => {
    const streams = new EventStreams({
      ...{ reader: here.reader, wallClock: Date.now, onError: () => undefined, streamsMax: 4 },
    });
    const app = openApp(here, { streams });
    const at = await app.listen({ port: 0, host: '127.0.0.1' });
    const crowd = await Promise.all([1, 2, 3, 4].map(() => listen(acme.owner, undefined, at)));
    const person = await newcomer(here);
    const orgId = await found(person);
    const place = `${orgId}/${await register(person, orgId)}`;
    for (const _again of [1, 2]) expect((await listen(person, place, at)).response.statusCode).toBe(200);
    expect((await listen(person, place, at)).response.statusCode).toBe(503);
    await soon(() => expect(crowd.filter(({ response }) => response.closed)).toHaveLength(2));
    streams.close();
    await app.close();
  });
});
