import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { EventStreams } from '../../src/http/event-stream.ts';
import type { Server } from '../../src/server.ts';
import { itemFaultsOf } from '../support/console-check.ts';
import { type Listener, listenTo, soon } from '../support/listener.ts';
import { migratedDatabase } from '../support/postgres.ts';
import { openApp, openServer } from '../support/server.ts';
import {
  createApplication,
  createOrganization,
  createTeam,
  goodPassword,
  join,
  newPerson,
  ok,
  type Person,
  type Team,
  Visitor,
} from '../support/visitor.ts';

// The contract says one second; the rest allows for a busy machine.
const endMsMax = 20_000;

describe('a console event stream', () => {
  let here: Server;
  let there: Server;
  let url: string;
  let acme: Team;
  const open = new Set<Listener>();

  beforeAll(async () => {
    const databaseUrl = await migratedDatabase(inject('postgresUrl'));
    const secret = 's'.repeat(32);
    here = await openServer('postgres', { databaseUrl, secret });
    there = await openServer('postgres', { databaseUrl, secret });
    url = await here.listen();
    acme = await createTeam(here);
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

  const revocations: Readonly<Record<string, (person: Person) => ReturnType<Visitor['post']>>> = {
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

  test.each(Object.entries(revocations))('ends within a second of %s', async (_name, end) => {
    const person = await newPerson(here);
    await join(person, acme.owner, acme.orgId, 'developer');
    const [leaving, staying] = [await listen(person), await listen(acme.owner)];
    const before = await pay();
    await soon(() => expect(resourcesOf(leaving)).toEqual([before]));
    for (const { data } of leaving.sent('event')) expect(itemFaultsOf('Event', data)).toEqual([]);
    ok(await end(person));
    const since = performance.now();
    await leaving.end;
    expect(performance.now() - since).toBeLessThan(endMsMax);
    const after = await pay();
    await soon(() => expect(resourcesOf(staying)).toEqual([before, after]));
    expect(resourcesOf(leaving)).toEqual([before]);
    staying.close();
  });

  test('announces changes without an event, also of another node, and not those of other organizations', async () => {
    const listener = await listen(acme.owner);
    const outsider = await newPerson(here);
    const otherOrg = await createOrganization(outsider);
    const other = await listen(outsider, `${otherOrg}/${await createApplication(outsider, otherOrg)}`);
    const count = (stream: Listener) => stream.sent('activity').length;
    let before = count(listener);
    const clock = `${acme.orgId}/${acme.appId}/developer_api_clock`;
    for (const [node, action] of [
      [here, 'freeze'],
      [there, 'reset'],
    ] as const) {
      ok(await acme.owner.at(node.app).post(`${clock}/${action}`));
      await soon(() => expect(count(listener)).toBeGreaterThan(before));
      before = count(listener);
    }
    expect(count(other)).toBe(0);
    expect(listener.sent('activity').every(({ data }) => Object.keys(data).length === 0)).toBe(true);
    listener.close();
    other.close();
  });

  test('ends when another device ends the session', async () => {
    const person = await newPerson(here);
    const orgId = await createOrganization(person);
    const appId = await createApplication(person, orgId);
    const listener = await listen(person, `${orgId}/${appId}`);
    const other = new Visitor(here.app);
    ok(await other.post('session/sign_in', { email: person.email, password: goodPassword }));
    ok(await other.post('session/devices/revoke_others'));
    await listener.end;
  });

  test('is limited to ten for each person over all organizations', async () => {
    const person = await newPerson(here);
    const places: string[] = [];
    for (let at = 0; at < 3; at += 1) {
      const orgId = await createOrganization(person, `Org ${at}`);
      places.push(`${orgId}/${await createApplication(person, orgId)}`);
    }
    const streams = await Promise.all(Array.from({ length: 10 }, (_, at) => listen(person, places[at % 3])));
    expect(new Set(streams.map(({ response }) => response.statusCode))).toEqual(new Set([200]));
    expect((await listen(person, places[0])).response.statusCode).toBe(503);
    expect((await listen(acme.owner)).response.statusCode).toBe(200);
    streams[0]?.close();
    await soon(async () => expect((await listen(person, places[0])).response.statusCode).toBe(200));
  });

  test('of an organization with few streams is accepted when others have filled the server', async () => {
    const streams = new EventStreams({
      ...{ reader: here.reader, wallClock: Date.now, onError: () => undefined, streamsMax: 4 },
    });
    const app = openApp(here, { streams });
    const at = await app.listen({ port: 0, host: '127.0.0.1' });
    const others = await Promise.all([1, 2, 3, 4].map(() => listen(acme.owner, undefined, at)));
    const person = await newPerson(here);
    const orgId = await createOrganization(person);
    const place = `${orgId}/${await createApplication(person, orgId)}`;
    for (const _again of [1, 2]) expect((await listen(person, place, at)).response.statusCode).toBe(200);
    expect((await listen(person, place, at)).response.statusCode).toBe(503);
    await soon(() => expect(others.filter(({ response }) => response.closed)).toHaveLength(2));
    streams.close();
    await app.close();
  });
});
