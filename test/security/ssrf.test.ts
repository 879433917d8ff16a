// API7 server side request forgery: the whole corpus of private-hosts.ts, through the API down to the socket. The guard itself is
// tested in test/unit/address-guard.test.ts, redirects and host names in test/workers/sender.test.ts, and the recorded attempts in
// test/api/webhook-guard.test.ts.
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Server } from '../../src/server.ts';
import type { Answer, Body } from '../support/api-client.ts';
import { expectOk } from '../support/api-client.ts';
import { rowDigests, traces } from '../support/populated-tenant.ts';
import { openReceiver, type Receiver } from '../support/receiver.ts';
import { openServer } from '../support/server.ts';
import { type Tenant, tenant } from '../support/tenant.ts';
import { privateHosts, splitText } from './private-hosts.ts';

const webhooks = 'developer_api_webhooks';
/** A literal public address, so no DNS lookup is needed. Nothing is ever sent there. */
const publicUrl = 'https://1.1.1.1/hook';

let server: Server;
let acme: Tenant;
let receiver: Receiver;
let hook: Body;

beforeAll(async () => {
  server = await openServer('postgres', { allowsPrivateWebhooks: false });
  acme = await tenant(server);
  receiver = await openReceiver();
  hook = expectOk(await acme.client.post(webhooks, { url: publicUrl }));
});
afterAll(async () => {
  // No request has reached the receiver on this machine.
  expect(receiver.received).toEqual([]);
  await server?.close();
  await receiver?.close();
});

const addresses = () => Object.values(privateHosts).flat();

/** Obfuscated URLs, and URLs that are not HTTP. */
const obfuscated = (port: number): readonly string[] => [
  ...splitText(`http://localhost:${port}/ http://LOCALHOST:${port}/ http://127.0.0.1:${port}#@1.1.1.1/
    http://1.1.1.1@127.0.0.1:${port}/ http://1.1.1.1:80@127.0.0.1:${port}/ http://127.0.0.1:${port}?@1.1.1.1/
    http://user:word@1.1.1.1/ https://127.0.0.1:443/ http://127.0.0.1:22/ http://127.0.0.1:6379/ http://127.0.0.1:5432/
    http:127.0.0.1:${port} http:/127.0.0.1:${port} HTTP:\\\\127.0.0.1:${port}\\ http://①②⑦.⓪.⓪.①:${port}/
    http://169.254.169.254/latest/meta-data/iam/security-credentials/ http://[fd00:ec2::254]/latest/api/token
    http://metadata.google.internal@169.254.169.254/computeMetadata/v1/ http://100.100.100.200/latest/meta-data/
    http://[fe80::1%25eth0]/ http://[::ffff:127.0.0.1%251]/ http://[::1%lo]/ http://0:${port}/ http://[::]:${port}/
    file:///etc/passwd gopher://127.0.0.1:6379/_x dict://127.0.0.1:11211/ ftp://1.1.1.1/ javascript:alert(1)
    data:text/plain,x unix:/run/x.sock ws://1.1.1.1/ ldap://1.1.1.1/ http+unix://%2frun%2fx.sock/ jar:http://1.1.1.1!/`),
  'http://127.0.0.1\t:80/',
  ' http://127.0.0.1/ ',
  'http://127.0.0.1\r\nHost: 1.1.1.1/',
  'http://127.0.0.1\\@1.1.1.1/',
];

const all = () => [
  ...addresses().map((host) => `http://${host}:${receiver.port}/hook`),
  ...obfuscated(receiver.port),
];

function expectRefused(answer: Answer, url: string): void {
  expect([answer.status, answer.code, answer.body.error.param], url).toEqual([
    422,
    'webhook_url_not_allowed',
    '/url',
  ]);
  expect(answer.text, 'credentials are not repeated').not.toContain('user:word');
}

test('rejects every address of the corpus when creating or updating an endpoint', async () => {
  expect(all().length).toBeGreaterThan(170);
  const before = await rowDigests(server, acme.orgId, traces);
  await Promise.all(
    all().map(async (url) => {
      expectRefused(await acme.client.post(webhooks, { url }), url);
      expectRefused(await acme.client.post(`${webhooks}/${hook.id}/update`, { url }), url);
    }),
  );
  expect(await rowDigests(server, acme.orgId, traces)).toEqual(before);
});

test('neither a test nor the examiner sends to a private address that is already in the database', async () => {
  const put = (url: string) =>
    server.database.query({ name: '', text: 'update webhooks set url = $3 where org_id = $1 and id = $2' }, [
      acme.orgId,
      hook.id,
      url,
    ]);
  for (const url of all()) {
    await put(url);
    const tested = expectOk(await acme.client.post(`${webhooks}/${hook.id}/test`));
    expect(tested, url).toMatchObject({ status: 'failed', lastResponseStatus: null });
    expect(tested.lastError, url).toMatch(
      /(is not|does not resolve to) a public address|Use http or https|credentials|URL is not valid/,
    );
  }
  // An examination sends many requests, so one address of each kind is enough.
  for (const [first = ''] of Object.values(privateHosts)) {
    await put(`http://${first}:${receiver.port}/hook`);
    const examined = expectOk(
      await acme.client.post(`${webhooks}/${hook.id}/examine`, { cases: ['valid_signature'] }),
    );
    expect(JSON.stringify(examined), first).toMatch(/(is not|does not resolve to) a public address/);
  }
  await put(publicUrl);
});
