import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer as createTls } from 'node:https';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { Sandbank } from '../../../sdk/client.ts';
import { scopes } from '../../../src/kernel/permissions.ts';
import { type CommandWorld, openCommandWorld, RunningCommand, run } from '../../support/command.ts';
import { freePort, type ServerProcess, startServer } from '../../support/processes.ts';
import { openReceiver, type Received, type Receiver, withStatus } from '../../support/receiver.ts';
import { newKey } from '../../support/tenant.ts';

const secretIn = (stderr: string) => /Secret: (whsec_\S+)/.exec(stderr)?.[1] ?? '';
const verified = ({ body, headers }: Received, secret: string) =>
  Sandbank.webhooks.verify(body, headers as Record<string, string>, secret);

describe('sandbank listen', () => {
  let world: CommandWorld;
  let receiver: Receiver;
  let listening: RunningCommand | undefined;
  beforeAll(async () => {
    world = await openCommandWorld();
  });
  afterAll(() => world?.close());
  beforeEach(async () => {
    receiver = await openReceiver();
  });
  afterEach(async () => {
    listening?.child.kill('SIGKILL');
    listening = undefined;
    await receiver.close();
  });

  async function listen(...args: string[]): Promise<RunningCommand> {
    listening = new RunningCommand(['listen', '--forward-to', receiver.url, ...args], { env: world.env });
    await listening.waitForOutput(/Listening to/, 'stderr');
    return listening;
  }
  const pay = () => world.owner.client.post('developer_api_payments', { amount: 1250, currency: 'EUR' });

  test('forwards the bytes that a webhook gets, signed with the printed secret', async () => {
    const running = await listen();
    const secret = secretIn(running.stderr);
    const webhookReceiver = await openReceiver();
    await world.owner.client.post('developer_api_webhooks', {
      url: webhookReceiver.url,
      eventTypes: ['payment.*'],
    });
    const { body: payment } = await pay();
    const [forwarded] = await receiver.waitFor(1);
    const [delivered] = await webhookReceiver.waitFor(1);
    expect(forwarded?.body).toBe(delivered?.body);
    expect(forwarded?.headers['webhook-id']).toBe(delivered?.headers['webhook-id']);
    expect(forwarded?.headers['content-type']).toBe(delivered?.headers['content-type']);
    expect(forwarded && (await verified(forwarded, secret))).toMatchObject({
      type: 'payment.created',
      data: { id: payment.id },
    });
    await running.waitForOutput(/payment\.created {2}evt_\w+ {2}-> 204 {2}\d+ ms\n/);
    expect(await running.stop()).toBe(0);
    const printed = await run(['listen', '--print-secret'], { env: world.env });
    expect(printed.stdout.trim()).toBe(secret);
    await webhookReceiver.close();
  });

  test('forwards a replay again, only the requested types, and prints the response status', async () => {
    const running = await listen('--events', 'customer.*', '--json');
    await pay();
    const { body: customer } = await world.owner.client.post('developer_api_customers', { name: 'Ada' });
    await receiver.waitFor(1);
    receiver.answer(withStatus(500));
    const eventId = String(receiver.received[0]?.headers['webhook-id']);
    await world.json(['events', 'replay', eventId]);
    await receiver.waitFor(2);
    await running.waitForOutput(/"isReplay":true/);
    const printed = running.stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as Record<string, unknown>);
    expect(printed).toMatchObject([
      {
        object: 'forward',
        status: 'delivered',
        type: 'customer.created',
        eventId,
        responseStatus: 204,
        isReplay: false,
      },
      { object: 'forward', status: 'refused', eventId, responseStatus: 500, isReplay: true },
    ]);
    expect(JSON.parse(receiver.received[1]?.body ?? '')).toMatchObject({ data: { id: customer.id } });
    expect(await running.stop('SIGTERM')).toBe(0);
  });

  test('waits for a target that does not listen yet, and starts at --since', async () => {
    const { body: earlier } = await world.owner.client.post('developer_api_customers', { name: 'Earlier' });
    const port = await freePort();
    const running = new RunningCommand(
      ['listen', '--forward-to', `127.0.0.1:${port}/hook`, '--since', '5m', '--events', 'customer.created'],
      { env: world.env },
    );
    listening = running;
    await running.waitForOutput(/ECONNREFUSED; retrying in/, 'stderr');
    const late = await openReceiver(undefined, port);
    await running.waitForOutput(/-> 204/);
    await late.waitFor(1);
    const { body: later } = await world.owner.client.post('developer_api_customers', { name: 'Later' });
    const ids = () => late.received.map(({ body }) => (JSON.parse(body) as { data: { id: string } }).data.id);
    await vi.waitUntil(() => ids().includes(later.id), { interval: 5 });
    await running.waitForOutput(/(?:-> 204[\s\S]*){2,}/);
    expect(ids()).toContain(earlier.id);
    expect(ids().at(-1)).toBe(later.id);
    expect(new Set(ids()).size).toBe(ids().length);
    expect(await running.stop()).toBe(0);
    await late.close();
  });

  test.each<[string, readonly string[], RegExp]>([
    ['no target', [], /Give --forward-to.*events tail --follow/],
    ['a target that is not an address', ['--forward-to', 'hook'], /--forward-to must be a URL/],
    ['an invalid secret', ['--forward-to', 'http://127.0.0.1:1/', '--secret', 'hunter2'], /whsec_/],
    ['an invalid time', ['--forward-to', 'http://127.0.0.1:1/', '--since', 'noon'], /--since/],
  ])('rejects %s with exit code 2', async (_what, args, message) => {
    const { code, stderr } = await run(['listen', ...args], { env: world.env });
    expect([code, stderr]).toEqual([2, expect.stringMatching(message)]);
  });

  test('exits immediately with 3 without a server, and with 4 without a valid key', async () => {
    const to = ['listen', '--forward-to', receiver.url];
    expect(
      (await run(to, { env: { ...world.env, SANDBANK_URL: `http://127.0.0.1:${await freePort()}` } })).code,
    ).toBe(3);
    expect((await run(to, { env: { ...world.env, SANDBANK_API_KEY: newKey() } })).code).toBe(4);
  });
});

describe('sandbank listen during a server restart', () => {
  let folder: string;
  let server: ServerProcess | undefined;
  let listening: RunningCommand | undefined;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'sandbank-listen-'));
  });
  afterAll(async () => {
    listening?.child.kill('SIGKILL');
    await server?.kill();
    await rm(folder, { recursive: true, force: true });
  });

  test('reconnects by itself, and every event arrives once: before, during and after', async () => {
    const key = newKey();
    const seed = join(folder, 'seed.json');
    const apiKeys = [{ name: 'ci', key, scopes: [...scopes] }];
    await writeFile(
      seed,
      JSON.stringify({ organizations: [{ name: 'Acme', applications: [{ name: 'web', apiKeys }] }] }),
    );
    const port = await freePort();
    const options = { dataDir: join(folder, 'data'), seed, port };
    server = await startServer(options);
    const receiver = await openReceiver();
    const env = { SANDBANK_URL: server.url, SANDBANK_API_KEY: key };
    listening = new RunningCommand(['listen', '--forward-to', receiver.url], { env });
    await listening.waitForOutput(/Listening to web/, 'stderr');
    const sandbank = new Sandbank({ apiKey: key, baseUrl: server.url });
    const created: string[] = [];
    const create = async () => created.push((await sandbank.customers.create({ name: 'Ada' })).id);
    await create();
    await receiver.waitFor(1);
    await server.kill();
    await listening.waitForOutput(/Connection lost/, 'stderr');
    server = await startServer(options);
    // Created before the listener reconnects: it waits two seconds before it retries.
    await create();
    await listening.waitForOutput(/Connected again/, 'stderr');
    await create();
    await receiver.waitFor(3);
    const forwarded = receiver.received.map(
      ({ body }) => (JSON.parse(body) as { data: { id: string } }).data.id,
    );
    expect(forwarded).toEqual(created);
    expect(await listening.stop()).toBe(0);
    await receiver.close();
  });
});

/** Self-signed certificates are common in local development. */
describe('a target with a self-signed certificate', () => {
  test('is rejected, and accepted with --skip-verify', async () => {
    const { cert, key } = await selfSigned();
    const world = await openCommandWorld();
    const bodies: string[] = [];
    const target = createTls({ cert, key }, (request, response) => {
      request
        .on('data', (chunk: Buffer) => bodies.push(chunk.toString()))
        .on('end', () => response.writeHead(200).end());
    }).listen(0, '127.0.0.1');
    await new Promise((resolve) => target.once('listening', resolve));
    const url = `https://127.0.0.1:${(target.address() as AddressInfo).port}/`;
    const pay = () => world.owner.client.post('developer_api_payments', { amount: 1, currency: 'EUR' });
    for (const [flags, output] of [
      [[], /-> DEPTH_ZERO_SELF_SIGNED_CERT/],
      [['--skip-verify'], /-> 200/],
    ] as const) {
      const running = new RunningCommand(['listen', '--forward-to', url, ...flags], { env: world.env });
      await running.waitForOutput(/Listening to/, 'stderr');
      await pay();
      await running.waitForOutput(output);
      expect(await running.stop()).toBe(0);
    }
    expect(bodies).toHaveLength(1);
    target.closeAllConnections();
    target.close();
    await world.close();
  });
});

async function selfSigned(): Promise<{ cert: string; key: string }> {
  const { execFileSync } = await import('node:child_process');
  const folder = await mkdtemp(join(tmpdir(), 'sandbank-tls-'));
  const [key, cert] = [join(folder, 'key.pem'), join(folder, 'cert.pem')];
  execFileSync(
    'openssl',
    [
      'req',
      '-x509',
      '-newkey',
      'ec',
      '-pkeyopt',
      'ec_paramgen_curve:prime256v1',
      '-nodes',
      '-subj',
      '/CN=127.0.0.1',
      '-days',
      '2',
      '-keyout',
      key,
      '-out',
      cert,
    ],
    { stdio: 'ignore' },
  );
  const { readFile } = await import('node:fs/promises');
  const read = { key: await readFile(key, 'utf8'), cert: await readFile(cert, 'utf8') };
  await rm(folder, { recursive: true });
  return read;
}
