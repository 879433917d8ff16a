// Secrets in a real process at log level trace: none appears in its output, its database or its pages.
import { randomUUID } from 'node:crypto';
import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import pg from 'pg';
import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import { ConfigProblem, readConfig } from '../../src/config.ts';
import { migratedDatabase } from '../support/postgres.ts';
import { runToEnd, type ServerProcess, startServer } from '../support/processes.ts';
import { openReceiver, type Receiver } from '../support/receiver.ts';
import { totp } from '../support/visitor.ts';

const secret = 'server-secret-Zq7-0123456789abcdef0123456789';
const operatorToken = 'operator-token-Zq7-0123456789abcdef';
const databasePassword = 'database-password-Zq7';
const password = 'password-of-a-person-Zq7';
const newPassword = 'new-password-of-a-person-Zq7';
const guesses = ['guessed-password-Zq7', 'guessed-operator-token-Zq7-0123456789'];
const ownHookSecret = `whsec_${Buffer.from('a-secret-that-a-caller-brings-Zq7').toString('base64')}`;

/** All secrets of the run, by description. Every helper that creates a secret adds it here. */
const secrets = new Map<string, string>([
  ['SANDBANK_SECRET', secret],
  ['the operator token', operatorToken],
  ['the database password', databasePassword],
  ['a password', password],
  ['a new password', newPassword],
  ['a wrong password', guesses[0] ?? ''],
  ['a wrong operator token', guesses[1] ?? ''],
  ['a webhook secret that the client provides', ownHookSecret],
]);

let server: ServerProcess;
let receiver: Receiver;
let database: pg.Client;
const pages: string[] = [];

type Json = Record<string, unknown> & { id: string; data: Json[]; error?: { code: string } };

beforeAll(async () => {
  const url = new URL(await migratedDatabase(inject('postgresUrl')));
  url.password = databasePassword;
  receiver = await openReceiver();
  server = await startServer({
    databaseUrl: url.href,
    env: {
      ...{ SANDBANK_SECRET: secret, SANDBANK_OPERATOR_TOKEN: operatorToken, LOG_LEVEL: 'trace' },
      ...{ SANDBANK_REGISTRATION: 'open', SANDBANK_PRIVATE_WEBHOOKS: 'on' },
    },
  });
  database = new pg.Client(url.href);
  await database.connect();
});
afterAll(async () => {
  await database?.end();
  await server?.stop();
  await receiver?.close();
});

/** A browser that stores its cookies, which are secrets too. */
class Browser {
  #cookies = new Map<string, string>();

  async send(path: string, body?: unknown): Promise<Json> {
    const response = await fetch(`${server.url}/console/api/${path}`, {
      method: body === undefined ? 'GET' : 'POST',
      headers: {
        origin: server.url,
        cookie: [...this.#cookies].map(([name, value]) => `${name}=${value}`).join('; '),
        ...(body === undefined
          ? {}
          : { 'content-type': 'application/json', 'idempotency-key': randomUUID() }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    for (const line of response.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? [];
      this.#cookies.set(name, value);
      // A cookie is a token and its signature; only both together are a credential.
      const whole = decodeURIComponent(value);
      if (whole.length > 20) secrets.set(`cookie ${secrets.size}`, whole);
    }
    return (await response.json()) as Json;
  }

  async page(path: string): Promise<void> {
    const cookie = [...this.#cookies].map(([name, value]) => `${name}=${value}`).join('; ');
    pages.push(await (await fetch(server.url + path, { headers: { cookie } })).text());
  }
}

async function api(path: string, headers: Record<string, string>, body?: string): Promise<Json> {
  const response = await fetch(`${server.url}/${path}`, {
    method: body === undefined ? 'GET' : 'POST',
    headers: {
      ...(body === undefined ? {} : { 'content-type': 'application/json', 'idempotency-key': randomUUID() }),
      ...headers,
    },
    ...(body === undefined ? {} : { body }),
  });
  const text = await response.text();
  const isJson = response.headers.get('content-type')?.startsWith('application/json;');
  return (isJson ? JSON.parse(text) : {}) as Json;
}

/** Signs up a person with a second factor, who fails and succeeds at every step once. */
async function signUpWithTwoFactor(browser: Browser, email: string): Promise<void> {
  await browser.send('session/sign_up', { name: 'Ada', email, password });
  await browser.send('session/sign_in', { email, password: guesses[0] });
  const enabled = await browser.send('session/two_factor/enable', { password });
  const shared = String(enabled.secret);
  secrets.set('the TOTP secret', shared);
  for (const [at, code] of (enabled.backupCodes as string[]).entries())
    secrets.set(`backup code ${at}`, code);
  await browser.send('session/two_factor/confirm', { code: '000000' });
  await browser.send('session/two_factor/confirm', { code: totp(shared) });
  await browser.send('session/sign_out', {});
  expect((await browser.send('session/sign_in', { email, password })).status).toBe('two_factor_required');
  await browser.send('session/two_factor', { code: '000000' });
  await browser.send('session/two_factor', { backupCode: (enabled.backupCodes as string[])[0] });
}

/** Sends a key in every wrong place that clients use. */
async function misuse(key: string): Promise<void> {
  const bearer = { authorization: `Bearer ${key}` };
  const payments = '_api/developer_api_payments';
  for (const [path, headers, body] of [
    [`${payments}?key=${key}`, bearer],
    [`${payments}?cursor=${key}`, bearer],
    [`${payments}/${key}`, bearer],
    [`_api/${key}`, bearer],
    [`${payments}?api_key=${key}`, {}],
    [payments, { authorization: key }],
    [payments, { authorization: `Bearer ${key}x` }],
    [payments, bearer, `{"amount":1,"${key}":1}`],
    [payments, bearer, `{"amount":1,"currency":"EUR","apiKey":"${key}"}`],
    [payments, bearer, `{"amount":"${key}"`],
    [payments, bearer, `"${key}"`],
    [payments, { ...bearer, 'idempotency-key': `${key} ${key}` }, '{"amount":1,"currency":"EUR"}'],
    [payments, { ...bearer, 'api-version': key }, '{"amount":1,"currency":"EUR"}'],
    [payments, { ...bearer, 'sandbank-organization': key }],
    [`docs/${key}`, bearer],
    [`console/${key}`, bearer],
  ] as [string, Record<string, string>, string?][])
    await api(path, headers, body);
  const { port } = new URL(server.url);
  for (const bytes of [
    `GET /${key} HTTP/9.9\r\nAuthorization: Bearer ${key}\r\n\r\n`,
    `Authorization: Bearer ${key}\r\n\r\n`,
    `GET / HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${key}\0\r\n\r\n`,
    `POST /_api/developer_api_payments HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${key}\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\n${key}`,
  ]) {
    const socket = connect(Number(port), '127.0.0.1');
    socket.end(bytes);
    await text(socket);
  }
}

async function useWebhooks(key: string): Promise<void> {
  const bearer = { authorization: `Bearer ${key}` };
  const post = (path: string, body: object) =>
    api(`_api/developer_api_${path}`, bearer, JSON.stringify(body));
  const hook = await post('webhooks', { url: receiver.url });
  secrets.set('a webhook secret', String(hook.secret));
  secrets.set(
    'a rotated webhook secret',
    String((await post(`webhooks/${hook.id}/rotate_secret`, {})).secret),
  );
  await post('webhooks', { url: receiver.url, secret: ownHookSecret, oops: ownHookSecret });
  await post('webhooks', { url: 'http://user:password-of-a-person-Zq7@127.0.0.1/' });
  await post(`webhooks/${hook.id}/test`, {});
  await post(`webhooks/${hook.id}/examine`, { cases: ['valid_signature', 'wrong_signature'] });
  await post('payments', { amount: 1, currency: 'EUR' });
  await receiver.waitFor(2);
}

test('secrets are used, each with success and with failure', async () => {
  const [owner, member] = [new Browser(), new Browser()];
  await signUpWithTwoFactor(owner, 'ada@example.test');
  const { id: orgId } = await owner.send('session/organizations', { name: 'Acme' });
  const { id: appId } = await owner.send(`${orgId}/applications`, { name: 'web' });
  const keyOf = async (name: string) => {
    const scopes = ['payments:read', 'payments:write', 'webhooks:read', 'webhooks:write'];
    const { key } = await owner.send(`${orgId}/${appId}/api_keys`, { name, scopes });
    expect(key).toMatch(/^sbk_sandbox_/);
    secrets.set(`the key ${name}`, String(key));
    return String(key);
  };
  const linkOf = async (path: string, body: object) => {
    const token =
      String((await owner.send(path, body)).url)
        .split(/[/?#=]/)
        .at(-1) ?? '';
    expect(token.length).toBeGreaterThan(20);
    secrets.set(`the link of ${path}`, token);
    return token;
  };
  const invitation = await linkOf(`${orgId}/invitations`, { role: 'viewer' });
  await member.send(`session/invitations/${invitation}`);
  const joined = await member.send('session/sign_up', {
    ...{ name: 'Bob', email: 'bob@example.test', password, invitation },
  });
  expect(joined.joined).toBe(orgId);
  const bob = (await owner.send(`${orgId}/members`)).data.find(({ email }) => email === 'bob@example.test');
  const reset = await linkOf(`${orgId}/members/${bob?.id}/reset_link`, {});
  await member.send('session/password_reset', { token: `${reset.slice(0, -1)}-`, newPassword });
  await member.send('session/password_reset', { token: reset, newPassword });
  await member.send('session/sign_in', { email: 'bob@example.test', password: newPassword });
  const key = await keyOf('ci');
  await misuse(key);
  await useWebhooks(key);
  for (const token of [operatorToken, guesses[1]]) {
    const bearer = { authorization: `Bearer ${token}` };
    await api('_operator/organizations', bearer);
    await api(`_operator/organizations/${token}/reset`, bearer, `{"${token}":`);
    await api(`_operator/organizations/${orgId}/snapshot?secrets=true`, bearer);
  }
  const created = await api(
    '_operator/organizations',
    { authorization: `Bearer ${operatorToken}` },
    JSON.stringify({ name: 'Rival' }),
  );
  expect(created.error).toBeUndefined();
  const [, operatorsKey = ''] = /(sbk_sandbox_\w+)/.exec(JSON.stringify(created)) ?? [];
  secrets.set('a key that the operator created', operatorsKey);
  // Lost connections write a log line.
  await database.query(
    'select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()',
  );
  await api('_api/developer_api_payments', { authorization: `Bearer ${key}` });
  for (const path of [
    '/console',
    `/console/${orgId}`,
    '/docs',
    '/docs/authentication',
    '/openapi.json',
    '/llms.txt',
  ])
    await owner.page(path);
  for (const [what, one] of secrets) expect(one.length, what).toBeGreaterThan(8);
  expect(secrets.size).toBeGreaterThan(20);
});

/** The secrets that a text contains, in plain, URL-encoded or Base64 form. */
function secretsIn(text: string): readonly string[] {
  return [...secrets].flatMap(([what, one]) =>
    [one, encodeURIComponent(one), Buffer.from(one).toString('base64').replace(/=+$/, '')].some((form) =>
      text.includes(form),
    )
      ? [what]
      : [],
  );
}

test('no secret is in the output of the process', async () => {
  const logs = server.logs();
  expect(logs, 'the log is not empty').toContain('"level":');
  expect(secretsIn(logs)).toEqual([]);
  // Every log entry is one line, so input cannot inject log lines.
  for (const line of logs.split('\n').filter((one) => one.startsWith('{')))
    expect(() => JSON.parse(line), line).not.toThrow();
});

test('no secret is in the pages', () => {
  expect(pages).toHaveLength(6);
  expect(secretsIn(`the check finds ${secret}`)).toEqual(['SANDBANK_SECRET']);
  expect(secretsIn(pages.join('\n'))).toEqual([]);
});

test('no secret is in the database', async () => {
  const { rows: tables } = await database.query(
    `select table_name as name from information_schema.tables
      where table_schema = 'public' and table_type = 'BASE TABLE' order by 1`,
  );
  expect(tables.length).toBeGreaterThan(30);
  const leaks: Record<string, readonly string[]> = {};
  for (const { name } of tables) {
    const { rows } = await database.query(`select t::text as content from "${name}" t`);
    const what = secretsIn(rows.map(({ content }) => content).join('\n'));
    if (what.length > 0) leaks[name] = what;
  }
  expect(leaks).toEqual({});
});

test('a failed start does not print secrets', async () => {
  const encoded = encodeURIComponent(databasePassword);
  const broken: readonly Record<string, string>[] = [
    { DATABASE_URL: `postgres://user:${encoded}@127.0.0.1:1/x` },
    { DATABASE_URL: `postgres://user:${encoded}%@127.0.0.1:1/x` },
    { DATABASE_URL: `postgres://user:${encoded}@127.0.0.1:1/x?sslmode=verify-full&sslrootcert=/nowhere` },
  ];
  const refused: readonly Record<string, string>[] = [
    { DATABASE_URL: `mysql://user:${encoded}@127.0.0.1/x` },
    { SANDBANK_OPERATOR_TOKEN: 'short-Zq7' },
    { SANDBANK_SECRET: 'short-Zq7' },
  ];
  for (const env of refused) {
    expect(() => readConfig({}, env)).toThrow(ConfigProblem);
    expect(() => readConfig({}, env)).not.toThrow(/Zq7/);
  }
  const endings = await Promise.all(
    broken.map((env) =>
      runToEnd({ dataDir: 'memory', env: { SANDBANK_SECRET: secret, LOG_LEVEL: 'trace', ...env } }),
    ),
  );
  for (const [at, { code, stdout, stderr }] of endings.entries()) {
    // 2 for a malformed setting, 1 for a database that cannot be reached.
    expect([1, 2], JSON.stringify(broken[at])).toContain(code);
    expect(stderr, 'the error is one line').toMatch(/^Error: Sandbank did not start\. [^\n]+\n$/);
    expect(stdout + stderr).not.toContain('Zq7');
  }
});
