import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Server } from '../../src/server.ts';
import { databaseKinds, openServer } from '../support/server.ts';
import { goodPassword, newcomer, Visitor } from '../support/visitor.ts';

describe.each(databaseKinds)('the session on %s', (kind) => {
  let server: Server;
  beforeAll(async () => {
    server = await openServer(kind);
  });
  afterAll(() => server?.close());

  test('nobody is signed in at first, and that is no error', async () => {
    const answer = await new Visitor(server.app).get('session');
    expect(answer.status, answer.text).toBe(200);
    expect(answer.body).toMatchObject({ object: 'session', status: 'ok', person: null, organizations: [] });
  });

  test('who signs up is signed in, and can sign out and in again', async () => {
    const ada = await newcomer(server);
    const session = await ada.get('session');
    expect(session.body.person).toMatchObject({ email: ada.email, name: 'Ada', twoFactor: false });
    const made = await ada.post('session/organizations', { name: 'Acme' });
    expect(made.status, made.text).toBe(201);
    const again = await ada.get('session');
    expect(again.body.organizations).toEqual([{ id: made.body.id, name: 'Acme', role: 'owner' }]);
    expect((await ada.post('session/sign_out')).body.person).toBeNull();
    expect((await ada.get('session')).body.person).toBeNull();
    const back = await ada.post('session/sign_in', { email: ada.email, password: goodPassword });
    expect(back.status, back.text).toBe(200);
    expect((await ada.get('session')).body.person).toMatchObject({ email: ada.email });
  });
});
