import { createHash, randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join as joinPath } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { hashWith, productionParameters } from '../../src/identity/password.ts';
import { formatId, idFrom } from '../../src/kernel/ids.ts';
import type { AuditRow } from '../../src/resources/audit/table.ts';
import type { Server } from '../../src/server.ts';
import type { Answer } from '../support/api-client.ts';
import { startServer } from '../support/processes.ts';
import { databaseKinds, openServer } from '../support/server.ts';
import {
  auditOf,
  goodPassword,
  newPerson,
  ok,
  type Person,
  tokenOf,
  totp,
  Visitor,
} from '../support/visitor.ts';

const ownPassword = 'my own horse battery';
const newPassword = 'a newer horse battery';
const nowhere = 'http://127.0.0.1:9/';

/** One write: the response, the person who sent it, and the expected audit row. */
type Written = readonly [answer: Answer, by: Person, action: string, resource: string, resourceId: string];

describe.each(databaseKinds)('the audit trail of console writes on %s', (kind) => {
  let server: Server;
  let [ada, grace]: [Person, Person] = [] as unknown as [Person, Person];
  let orgId: string;
  let appId: string;
  const written: Written[] = [];
  /** Responses that show a secret on purpose, by the name of the secret. */
  const shown = new Map<string, readonly string[]>();
  /** Every secret of the run, by name. */
  const secrets = new Map<string, string>();
  const answers: Answer[] = [];

  afterAll(() => server?.close());

  /** Sends every kind of write that a person can send, and collects all responses and secrets. */
  beforeAll(async () => {
    // A separate server, because the tests search the whole database for secrets.
    server = await openServer(kind);
    hashWith(productionParameters);
    [ada, grace] = await Promise.all([newPerson(server, 'Ada'), newPerson(server, 'Grace')]);
    const write = async (by: Person, path: string, body: unknown, action: string, resource: string) => {
      const answer = await by.post(path, body);
      answers.push(answer);
      const { id } = ok(answer);
      written.push([answer, by, action, resource, id]);
      return answer.body;
    };
    const secret = (name: string, value: unknown, where?: Answer) => {
      secrets.set(name, String(value));
      shown.set(name, where ? [where.text] : []);
    };
    const last = () => answers.at(-1);
    const session = async (by: Visitor, path: string, body: unknown) => {
      const answer = await by.post(path, body);
      answers.push(answer);
      return ok(answer);
    };

    orgId = (
      await write(ada, 'session/organizations', { name: 'Acme' }, 'organizations.create', 'organization')
    ).id;
    await write(
      ada,
      `${orgId}/organization/rename`,
      { name: 'Acme 2' },
      'organizations.rename',
      'organization',
    );
    const applications = `${orgId}/applications`;
    appId = (await write(ada, applications, { name: 'web' }, 'applications.create', 'application')).id;
    for (const [verb, body] of [
      ['update', { provider: 'meridian' }],
      ['archive', {}],
      ['restore', {}],
    ] as const)
      await write(ada, `${applications}/${appId}/${verb}`, body, `applications.${verb}`, 'application');

    const keys = `${orgId}/${appId}/api_keys`;
    const keyBody = { name: 'ci', scopes: ['payments:read'] };
    const created = await write(ada, keys, keyBody, 'api_keys.create', 'api_key');
    secret('a key', created.key, last());
    await write(ada, `${keys}/${created.id}/update`, { name: 'new' }, 'api_keys.update', 'api_key');
    const rotated = await write(ada, `${keys}/${created.id}/rotate`, {}, 'api_keys.rotate', 'api_key');
    secret('a rotated key', rotated.key, last());
    await write(ada, `${keys}/${rotated.id}/revoke`, {}, 'api_keys.revoke', 'api_key');

    const place = `${orgId}/${appId}`;
    const hook = await write(
      ...([ada, `${place}/developer_api_webhooks`, { url: nowhere }, 'webhooks.create', 'webhook'] as const),
    );
    secret('a webhook secret', hook.secret, last());
    const payment = { amount: 1_250, currency: 'EUR' };
    await write(ada, `${place}/developer_api_payments`, payment, 'payments.create', 'payment');

    const invitations = `${orgId}/invitations`;
    const role = { role: 'viewer' };
    const spare = await write(ada, invitations, role, 'invitations.create', 'invitation');
    secret('an invitation link', tokenOf(spare.url), last());
    await write(ada, `${invitations}/${spare.id}/revoke`, {}, 'invitations.revoke', 'invitation');
    const open = await write(ada, invitations, role, 'invitations.create', 'invitation');
    const token = tokenOf(open.url);
    secret('an accepted invitation link', token, last());
    const accepted = await grace.post(`session/invitations/${token}/accept`);
    answers.push(accepted);
    written.push([accepted, grace, 'invitations.accept', 'member', grace.memberId]);
    const members = `${orgId}/members/${grace.memberId}`;
    await write(ada, `${members}/role`, { role: 'developer' }, 'members.change_role', 'member');
    const link = await write(ada, `${members}/reset_link`, {}, 'members.reset_link', 'member');
    secret('a password reset link', tokenOf(link.url), last());
    const used = await write(ada, `${members}/reset_link`, {}, 'members.reset_link', 'member');
    secret('a used password reset link', tokenOf(used.url), last());
    await session(grace, 'session/password_reset', { token: tokenOf(used.url), newPassword });
    await session(grace, 'session/sign_in', { email: grace.email, password: newPassword });
    await write(ada, `${members}/remove`, {}, 'members.remove', 'member');

    const change = { currentPassword: goodPassword, newPassword: ownPassword };
    await session(ada, 'session/password', change);
    const factor = await session(ada, 'session/two_factor/enable', { password: ownPassword });
    secret('the second factor', factor.secret, last());
    const where = last();
    for (const [i, code] of (factor.backupCodes as string[]).entries())
      secret(`backup code ${i}`, code, where);
    await session(ada, 'session/two_factor/confirm', { code: totp(String(factor.secret)) });
    const browser = new Visitor(server.app);
    await session(browser, 'session/sign_in', { email: ada.email, password: ownPassword });
    const [pendingCookie] = [...browser.cookies.values()];
    secret('the cookie of a pending sign-in', pendingCookie);
    await session(browser, 'session/two_factor', { backupCode: (factor.backupCodes as string[])[0] });
    await server.requestLog.flush();
    const logged = await ada.get(`${place}/developer_api_requests?scope=organization&limit=100`);
    answers.push(logged);
    for (const { id } of ok(logged).data)
      answers.push(await ada.get(`${place}/developer_api_requests/${id}`));
    for (const answer of [
      await ada.get('session'),
      await ada.get('session/devices'),
      await ada.get(`${orgId}/members`),
      await ada.get(invitations),
      await ada.get(applications),
      await ada.get(keys),
      await ada.get(`${place}/developer_api_webhooks/${hook.id}`),
    ])
      answers.push(answer);

    secret('a password', ownPassword);
    secret('the previous password', goodPassword);
    secret('a password set through a reset link', newPassword);
    for (const [name, visitor] of Object.entries({ ada, grace, browser }))
      for (const [cookie, value] of visitor.cookies) secret(`${name}'s cookie ${cookie}`, value);
  });

  test('has exactly one row for each write, with actor, action, resource, IP address and time', async () => {
    expect(written.length).toBeGreaterThanOrEqual(20);
    for (const [answer, by, action, resource, resourceId] of written) {
      const isInApp = /^(api_keys|webhooks|payments)\./.test(action);
      const row: AuditRow = {
        orgId: idFrom('organization', orgId),
        appId: isInApp ? idFrom('application', appId) : null,
        ...{ actorKind: 'person', actorId: by.personId },
        id: expect.stringMatching(/^aud_[0-9a-z]{26}$/) as unknown as AuditRow['id'],
        at: expect.any(Number) as unknown as number,
        ...{ action, resource, ip: by.address, outcome: 'accepted', code: null },
        requestId: idFrom('request', String(answer.headers['request-id'])),
        resourceId: action === 'invitations.accept' ? by.memberId : resourceId,
      };
      expect(await auditOf(server, answer), action).toEqual([row]);
    }
  });

  test('has one row for each rejected write in an organization, whatever the reason', async () => {
    const id = formatId('api_key', '01m7epxwjmf7za77rhky2f93cc');
    const place = `${orgId}/${appId}`;
    const headers = { 'idempotency-key': '' };
    const refused: [answer: Answer, action: string, code: string, resource?: string, id?: string][] = [
      [await ada.post(`${place}/api_keys`, { name: '' }), 'api_keys.create', 'invalid_request'],
      [await ada.post(`${place}/api_keys/${id}/revoke`), 'api_keys.revoke', 'resource_not_found'],
      [
        await ada.post(`${orgId}/members/${ada.memberId}/remove`),
        'members.remove',
        'last_owner',
        'member',
        ada.memberId,
      ],
      [
        await ada.post(`${orgId}/applications/${appId}/restore`),
        'applications.restore',
        'invalid_state_transition',
        'application',
        appId,
      ],
      [
        await ada.post(`${orgId}/applications`, {}, headers),
        'applications.create',
        'idempotency_key_missing',
      ],
    ];
    for (const [answer, action, code, resource = null, resourceId = null] of refused) {
      expect(answer.code, answer.text).toBe(code);
      expect(await auditOf(server, answer)).toEqual([
        expect.objectContaining({
          ...{ action, outcome: 'refused', code, actorKind: 'person', actorId: ada.personId },
          ...{ ip: ada.address, resource, resourceId },
        }),
      ]);
    }
  });

  test('has no row for a replay or a read', async () => {
    const headers = { 'idempotency-key': randomUUID() };
    const post = () => ada.post(`${orgId}/applications`, { name: 'twice' }, headers);
    const [first, again] = [await post(), await post()];
    expect(again.headers['idempotent-replayed']).toBe('true');
    expect(await auditOf(server, first)).toHaveLength(1);
    expect(await auditOf(server, again)).toEqual([]);
    expect(await auditOf(server, await ada.get(`${orgId}/members`))).toEqual([]);
  });

  test('has no row for a person outside the organization', async () => {
    const stranger = await newPerson(server, 'Stranger');
    const answer = await stranger.post(`${orgId}/applications`, { name: 'x' });
    expect(answer.code).toBe('resource_not_found');
    const text = 'select id from audit where org_id = $1 and actor_id = $2';
    expect(await server.database.query({ name: '', text }, [orgId, stranger.personId])).toEqual([]);
  });

  test('cannot be changed, not even with direct database access', async () => {
    for (const text of [
      `update audit set actor_id = 'x' where actor_kind = 'person'`,
      `delete from audit where actor_kind = 'person'`,
    ])
      await expect(server.database.query({ name: '', text }, [])).rejects.toThrow();
  });

  describe('secrets', () => {
    /** Every row of the database as text; bytes are in hexadecimal. */
    async function readAllRows(): Promise<readonly { name: string; row: string }[]> {
      const tables = await server.database.query<{ name: string }>(
        {
          name: '',
          text: `select table_name as name from information_schema.tables
            where table_schema = 'public' and table_type = 'BASE TABLE'`,
        },
        [],
      );
      const rows = await Promise.all(
        tables.map(({ name }) =>
          server.database.query<{ name: string; row: string }>(
            { name: '', text: `select '${name}' as name, row_to_json(t)::text as row from ${name} t` },
            [],
          ),
        ),
      );
      expect(rows.flat().length).toBeGreaterThan(100);
      return rows.flat();
    }
    const formsOf = (secret: string) => [
      secret,
      decodeURIComponent(secret),
      Buffer.from(secret).toString('base64').replace(/=+$/, ''),
      Buffer.from(secret).toString('hex'),
    ];
    /** The tables that contain a secret in plain text. */
    async function tablesWith(isIncluded: (name: string) => boolean): Promise<readonly string[]> {
      const rows = await readAllRows();
      return [...secrets]
        .filter(([name]) => isIncluded(name))
        .flatMap(([name, secret]) =>
          rows
            .filter(({ row }) => formsOf(secret).some((form) => row.includes(form)))
            .map((row) => `${name} in ${row.name}`),
        );
    }
    const isResetLink = (name: string) => name.includes('password reset link');

    test('are not stored in plain text in any table', async () => {
      expect(secrets.size).toBeGreaterThan(20);
      expect(await tablesWith((name) => !isResetLink(name))).toEqual([]);
    });

    test('password reset links are not stored in plain text either', async () => {
      expect(await tablesWith(isResetLink)).toEqual([]);
    });

    test('appear only in the response that shows them on purpose', () => {
      for (const [name, secret] of secrets) {
        const own = shown.get(name) ?? [];
        const leaks = answers.filter(({ text }) => text.includes(secret) && !own.includes(text));
        expect(
          leaks.map(({ text }) => text),
          name,
        ).toEqual([]);
        for (const text of own) expect(text, name).toContain(secret);
      }
    });

    test('are stored as hashes: passwords with scrypt, keys and links with SHA-256', async () => {
      const rows = await readAllRows();
      const passwords = rows.filter(({ name }) => name === 'person_accounts');
      for (const { row } of passwords) expect(row).toMatch(/scrypt\$32768\$8\$3\$/);
      const stored = rows.map(({ row }) => row).join('\n');
      for (const name of ['a key', 'a rotated key', 'an invitation link']) {
        const hash = createHash('sha256')
          .update(secrets.get(name) ?? '')
          .digest('hex');
        expect(stored, name).toContain(hash);
      }
    });
  });
});

/** Runs the built server in a real process. */
describe('the log', () => {
  test('contains no password, key, cookie or link, even at the level trace', async () => {
    const dataDir = await mkdtemp(joinPath(tmpdir(), 'sandbank-console-log-'));
    const server = await startServer({ dataDir, env: { LOG_LEVEL: 'trace' } });
    const cookies = new Map<string, string>();
    const cookieOf = () => [...cookies].map(([name, value]) => `${name}=${value}`).join('; ');
    const secrets: string[] = [goodPassword, ownPassword];
    const post = async (path: string, body: unknown, headers: Record<string, string> = {}) => {
      const response = await fetch(`${server.url}/console/api/${path}`, {
        method: 'POST',
        headers: {
          ...{ origin: server.url, cookie: cookieOf(), 'content-type': 'application/json' },
          ...{ 'idempotency-key': randomUUID(), ...headers },
        },
        body: typeof body === 'string' ? body : JSON.stringify(body),
      });
      for (const line of response.headers.getSetCookie()) {
        const [pair = ''] = line.split(';');
        const [name, value] = [pair.slice(0, pair.indexOf('=')), pair.slice(pair.indexOf('=') + 1)];
        cookies.set(name, value);
        if (value !== '') secrets.push(value);
      }
      return (await response.json()) as Record<string, string>;
    };
    const email = 'ada@example.test';
    await post('session/sign_up', { name: 'Ada', email, password: goodPassword });
    const { id: orgId } = await post('session/organizations', { name: 'Acme' });
    const { id: appId } = await post(`${orgId}/applications`, { name: 'web' });
    const keyBody = { name: 'ci', scopes: ['payments:read'] };
    const { key = '' } = await post(`${orgId}/${appId}/api_keys`, keyBody);
    const { url = '' } = await post(`${orgId}/invitations`, { role: 'viewer' });
    const { secret = '' } = await post('session/two_factor/enable', { password: goodPassword });
    secrets.push(key, tokenOf(url), secret);
    expect(secrets.every((one) => one.length >= 8)).toBe(true);
    // Failed requests write the most log lines.
    await post('session/sign_in', { email, password: ownPassword });
    await post('session/sign_in', `{"email":"${email}","password":"${ownPassword}"`);
    await post('session/sign_in', { email, password: ownPassword }, { 'content-type': 'text/plain' });
    await fetch(`${server.url}/console/api/session/invitations/${tokenOf(url)}`);
    await fetch(`${server.url}/console/api/${orgId}/${appId}/api_keys`, {
      headers: { cookie: cookieOf() },
    });
    await fetch(`${server.url}/_api/developer_api_payments`, { headers: { authorization: `Bearer ${key}` } });
    await post('session/sign_out', {});
    await server.stop();
    for (const one of secrets) expect(server.logs()).not.toContain(one);
    await rm(dataDir, { recursive: true });
  });
});
