import { beforeAll, describe, expect, test } from 'vitest';
import { historyDays } from '../../src/identity/constants.ts';
import type { Server } from '../../src/server.ts';
import { databaseKinds, sharedServer } from '../support/server.ts';
import { goodPassword, newPerson, ok, type Person, totp, Visitor } from '../support/visitor.ts';

const newPassword = 'a newer horse battery';

interface Event {
  readonly action: string;
  readonly at: string;
  readonly ip: string;
  readonly userAgent: string;
}

describe.each(databaseKinds)('the security history on %s', (kind) => {
  let server: Server;
  let ada: Person;
  beforeAll(async () => {
    server = await sharedServer(kind);
    ada = await newPerson(server, 'Ada');
  });

  const eventsOf = async (person: Visitor) =>
    ok(await person.get('session/history')).data as unknown as readonly Event[];
  const actionsOf = async (person: Visitor) => (await eventsOf(person)).map(({ action }) => action);
  const browser = () => {
    const visitor = new Visitor(server.app);
    visitor.headers['user-agent'] = 'Another browser';
    return visitor;
  };

  test('has every sign-in and every change, newest first, with time, address and user agent', async () => {
    const visitor = browser();
    const startedAt = Date.now();
    const email = ada.email;
    await visitor.post('session/sign_in', { email, password: 'a wrong horse' });
    ok(await visitor.post('session/sign_in', { email, password: goodPassword }));
    ok(await visitor.post('session/sign_out'));
    ok(await ada.post('session/password', { currentPassword: goodPassword, newPassword }));
    ok(await ada.post('session/devices/revoke_others'));
    const pending = ok(await ada.post('session/two_factor/enable', { password: newPassword }));
    ok(await ada.post('session/two_factor/confirm', { code: totp(String(pending.secret)) }));
    const second = browser();
    ok(await second.post('session/sign_in', { email, password: newPassword }));
    await second.post('session/two_factor', { code: '000000' });
    const [backupCode] = pending.backupCodes as readonly string[];
    ok(await second.post('session/two_factor', { backupCode }));
    ok(await ada.post('session/two_factor/disable', { password: newPassword }));

    const events = await eventsOf(ada);
    expect(events.map(({ action }) => action)).toEqual([
      ...['disable_two_factor', 'sign_in', 'use_backup_code', 'two_factor_failed', 'enable_two_factor'],
      ...['revoke_sessions', 'change_password', 'sign_out', 'sign_in', 'sign_in_failed', 'sign_up'],
    ]);
    expect(events[9]).toMatchObject({ ip: visitor.address, userAgent: 'Another browser' });
    expect(events[0]).toMatchObject({ ip: ada.address });
    const times = events.map(({ at }) => Date.parse(at));
    expect(times).toEqual([...times].sort((a, b) => b - a));
    expect(times[9]).toBeGreaterThanOrEqual(startedAt - 1);
  });

  test('shows each person only the own events, and nothing without a session', async () => {
    const eve = await newPerson(server, 'Eve');
    expect(await actionsOf(eve)).toEqual(['sign_up']);
    expect((await new Visitor(server.app).get('session/history')).code).toBe('session_missing');
  });

  test('a failed sign-in with an unknown address writes no event', async () => {
    const count = async () => {
      const text = `select count(*)::integer as n from account_events where action = 'sign_in_failed' and ip = $1`;
      return (await server.database.query<{ n: number }>({ name: '', text }, [visitor.address]))[0]?.n;
    };
    const visitor = browser();
    await visitor.post('session/sign_in', { email: 'nobody@example.test', password: goodPassword });
    expect(await count()).toBe(0);
  });

  test('failed attempts do not push out other events, and both are bounded', async () => {
    const mia = await newPerson(server, 'Mia');
    const visitor = { address: '192.0.2.7', agent: 'x'.repeat(2_000) };
    const account = { id: mia.personId as never };
    for (let i = 0; i < 205; i += 1) await server.people.history.record(account, 'sign_in_failed', visitor);
    const text = `select action, count(*)::integer as n, max(length(user_agent)) as longest from account_events
      where person_id = $1 group by action order by action`;
    const rows = await server.database.query({ name: '', text }, [mia.personId]);
    expect(rows).toEqual([
      { action: 'sign_in_failed', n: 200, longest: 500 },
      { action: 'sign_up', n: 1, longest: expect.any(Number) },
    ]);
    for (let i = 0; i < 505; i += 1) await server.people.history.record(account, 'sign_in', visitor);
    const [signIns] = await server.database.query<{ n: number }>(
      { name: '', text: `select count(*)::integer as n from account_events where person_id = $1` },
      [mia.personId],
    );
    expect(signIns?.n).toBe(700);
    expect(await eventsOf(mia)).toHaveLength(100);
  });

  test('is deleted after the retention period', async () => {
    const old = await newPerson(server, 'Old');
    ok(await old.post('session/profile', { name: 'Older' }));
    const text = `update account_events set at = now() - interval '${historyDays + 1} days'
      where person_id = $1 and action = 'sign_up'`;
    await server.database.query({ name: '', text }, [old.personId]);
    await server.people.reap();
    expect(await actionsOf(old)).toEqual(['rename']);
  });
});
