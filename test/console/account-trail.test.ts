import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Server } from '../../src/server.ts';
import type { Answer } from '../support/api-client.ts';
import { openServer } from '../support/server.ts';
import {
  auditOf,
  createOrganization,
  goodPassword,
  newPerson,
  ok,
  type Person,
  totp,
  Visitor,
} from '../support/visitor.ts';

const newPassword = 'a newer horse battery';
let server: Server;
let ada: Person;
let orgIds: readonly string[];

beforeAll(async () => {
  server = await openServer('pglite');
  ada = await newPerson(server, 'Ada');
  orgIds = [await createOrganization(ada, 'Acme'), await createOrganization(ada, 'Globex')];
});
afterAll(() => server?.close());

/** Expects one audit row in each of the person's organizations. */
async function expectRows(answer: Answer, action: string, by: Visitor = ada): Promise<void> {
  ok(answer);
  const rows = await auditOf(server, answer);
  expect(new Set(rows.map(({ orgId }) => orgId)), action).toEqual(new Set(orgIds));
  expect(rows).toHaveLength(orgIds.length);
  for (const row of rows)
    expect(row).toMatchObject({
      ...{ action, outcome: 'accepted', code: null, appId: null, ip: by.address },
      ...{ actorKind: 'person', actorId: ada.personId, resource: 'member', resourceId: ada.memberId },
    });
}

test('an account change writes an audit row in every organization of the person', async () => {
  const browser = new Visitor(server.app);
  const credentials = { email: ada.email, password: goodPassword };
  await expectRows(await browser.post('session/sign_in', credentials), 'account.sign_in', browser);
  await expectRows(await browser.post('session/sign_out'), 'account.sign_out', browser);
  await expectRows(await ada.post('session/profile', { name: 'Ada L.' }), 'account.rename');
  const change = { currentPassword: goodPassword, newPassword };
  await expectRows(await ada.post('session/password', change), 'account.change_password');
  await expectRows(await ada.post('session/devices/revoke_others'), 'account.revoke_sessions');
  const pending = await ada.post('session/two_factor/enable', { password: newPassword });
  expect(await auditOf(server, pending), 'nothing has changed yet').toEqual([]);
  const code = totp(String(ok(pending).secret));
  await expectRows(await ada.post('session/two_factor/confirm', { code }), 'account.enable_two_factor');
  const half = new Visitor(server.app);
  const first = await half.post('session/sign_in', { email: ada.email, password: newPassword });
  expect(await auditOf(server, first), 'the second factor is still missing').toEqual([]);
  const [backupCode] = ok(pending).backupCodes as readonly string[];
  await expectRows(await half.post('session/two_factor', { backupCode }), 'account.sign_in', half);
  const disabled = await ada.post('session/two_factor/disable', { password: newPassword });
  await expectRows(disabled, 'account.disable_two_factor');
});

test('a password reset through a link writes an audit row in each organization', async () => {
  const link = await server.people.createResetLink(ada.email, null);
  const stranger = new Visitor(server.app);
  const reset = { token: link?.token, newPassword: 'an even newer horse' };
  await expectRows(await stranger.post('session/password_reset', reset), 'account.reset_password', stranger);
  const again = await stranger.post('session/password_reset', reset);
  expect([again.code, await auditOf(server, again)]).toEqual(['link_invalid', []]);
});

test('a rejected change and a failed sign-in write no audit row', async () => {
  const answers = [
    await new Visitor(server.app).post('session/sign_in', {
      email: ada.email,
      password: 'wrong horse battery',
    }),
    await ada.post('session/password', { currentPassword: 'wrong horse battery', newPassword }),
  ];
  for (const answer of answers) {
    expect(answer.status).toBeGreaterThanOrEqual(400);
    expect(await auditOf(server, answer)).toEqual([]);
  }
});
