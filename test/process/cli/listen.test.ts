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

  test('forwards what a webhook gets, byte for byte, signed with the secret that it has printed', async () => {
    const running = await listen();
    const secret = secretIn(running.stderr);
    const beside = await openReceiver();
    await world.owner.client.post('developer_api_webhooks', { url: beside.url, eventTypes: ['payment.*'] });
    const { body: payment } = await pay();
    const [forwarded] = await receiver.waitFor(1);
    const [delivered] = await beside.waitFor(1);
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
    await beside.close();
  });

  test('forwards a replay again, only the types asked for, and says what was answered', async () => {
    const running = await listen('--events', 'customer.*', '--json');
    await pay();
    const { body: customer } = await world.owner.client.post('developer_api_customers', { name: 'Ada' });
    await receiver.waitFor(1);
    receiver.answer(withStatus(500));
    const eventId = String(receiver.received[0]?.headers['webhook-id']);
    await world.json(['events', 'replay', eventId]);
    await receiver.waitFor(2);
    await running.waitForOutput(/"isReplay":true/);
    const told = running.stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as Record<string, unknown>);
    expect(told).toMatchObject([
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

  test('waits for a program that is not there yet, and begins where it is told', async () => {
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
    ['a secret that is none', ['--forward-to', 'http://127.0.0.1:1/', '--secret', 'hunter2'], /whsec_/],
    ['a time that is none', ['--forward-to', 'http://127.0.0.1:1/', '--since', 'noon'], /--since/],
  ])('refuses %s with 2', async (_what, args, words) => {
    const { code, stderr } = await run(['listen', ...args], { env: world.env });
    expect([code, stderr]).toEqual([2, expect.stringMatching(words)]);
  });

  test('ends at once with 3 without a server, and with 4 without a valid key', async () => {
    const to = ['listen', '--forward-to', receiver.url];
    expect(
      (await run(to, { env: { ...world.env, SANDBANK_URL: `http://127.0.0.1:${await freePort()}` } })).code,
    ).toBe(3);
    expect((await run(to, { env: { ...world.env, SANDBANK_API_KEY: newKey() } })).code).toBe(4);
  });
});

describe('sandbank listen and a server that goes away', () => {
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

  test('comes back by itself, and every event arrives once: before, during and after', async () => {
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
    const made: string[] = [];
    const create = async () => made.push((await sandbank.customers.create({ name: 'Ada' })).id);
    await create();
    await receiver.waitFor(1);
    await server.kill();
    await listening.waitForOutput(/Connection lost/, 'stderr');
    server = await startServer(options);
    // Made before the listener is back: it waits two seconds before it tries again.
    await create();
    await listening.waitForOutput(/Connected again/, 'stderr');
    await create();
    await receiver.waitFor(3);
    const told = receiver.received.map(({ body }) => (JSON.parse(body) as { data: { id: string } }).data.id);
    expect(told).toEqual(made);
    expect(await listening.stop()).toBe(0);
    await receiver.close();
  });
});

/** A certificate that nobody has signed, as programs on a laptop have them. */
describe('a target with a certificate of its own', () => {
  test('is refused, and accepted with --skip-verify', async () => {
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
    for (const [flags, words] of [
      [[], /-> DEPTH_ZERO_SELF_SIGNED_CERT/],
      [['--skip-verify'], /-> 200/],
    ] as const) {
      const running = new RunningCommand(['listen', '--forward-to', url, ...flags], { env: world.env });
      await running.waitForOutput(/Listening to/, 'stderr');
      await pay();
      await running.waitForOutput(words);
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
