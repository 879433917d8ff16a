import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Sandbank } from '../../../sdk/client.ts';
import { type CommandWorld, openCommandWorld, run } from '../../support/command.ts';
import { openReceiver, type Receiver, withStatus } from '../../support/receiver.ts';

interface JsonOutput {
  readonly id: string;
  readonly secret: string;
}

describe('webhooks from the command line', () => {
  let world: CommandWorld;
  let receiver: Receiver;
  beforeAll(async () => {
    world = await openCommandWorld();
    receiver = await openReceiver();
  });
  afterAll(async () => {
    await receiver?.close();
    await world?.close();
  });

  test('registers, tests and lists an endpoint', async () => {
    const created = await world.json<JsonOutput>([
      'webhooks',
      'create',
      receiver.url,
      '--events',
      'payment.*,customer.created',
      '--retry-profile',
      'none',
    ]);
    expect(created).toMatchObject({
      object: 'webhook',
      url: receiver.url,
      eventTypes: ['payment.*', 'customer.created'],
    });
    expect(created.secret).toMatch(/^whsec_/);
    const tested = await world.json<{ attempts: object[] }>([
      'webhooks',
      'test',
      created.id,
      '--type',
      'payment.captured',
    ]);
    expect(tested).toMatchObject({
      object: 'delivery',
      status: 'succeeded',
      eventType: 'payment.captured',
      attempts: [{ responseStatus: 204 }],
    });
    receiver.answer(withStatus(500));
    const failed = await world.sandbank('webhooks', 'test', created.id);
    expect([failed.code, failed.stdout]).toEqual([
      1,
      expect.stringMatching(/status +failed\n[\s\S]*response +500/),
    ]);
    receiver.answer(withStatus(204));
    const output = await world.sandbank('webhooks', 'list');
    expect(output.stdout).toMatch(
      new RegExp(
        `^ENDPOINT +STATUS +URL +EVENTS\n${created.id} +enabled +${receiver.url} +payment\\.\\*,customer\\.created\n`,
      ),
    );
    expect(output.stdout).not.toContain('whsec_');
  });

  test('examines a receiver from this machine and from the server', async () => {
    const secret = `whsec_${randomBytes(32).toString('base64')}`;
    const good = await openReceiver((received, response) => {
      if (received.method !== 'POST') return void response.writeHead(405).end();
      Sandbank.webhooks.verify(received.body, received.headers as Record<string, string>, secret).then(
        () => response.writeHead(204).end(),
        () => response.writeHead(400).end(),
      );
    });
    const passed = await run(['webhooks', 'examine', good.url, '--secret', secret]);
    expect([passed.code, passed.stdout]).toEqual([0, expect.stringMatching(/Grade A +100 of 100, passed/)]);
    const failed = await run([
      'webhooks',
      'examine',
      '--url',
      receiver.url,
      '--secret',
      secret,
      '--cases',
      'wrong_signature',
      '--json',
    ]);
    expect([failed.code, JSON.parse(failed.stdout)]).toMatchObject([1, { status: 'failed', grade: 'F' }]);
    const { id } = await world.json<JsonOutput>(['webhooks', 'create', good.url, '--secret', secret]);
    const byServer = await world.sandbank(
      'webhooks',
      'examine',
      id,
      '--cases',
      'valid_signature,wrong_signature',
    );
    expect([byServer.code, byServer.stdout]).toEqual([0, expect.stringMatching(/wrong_signature +4xx +400/)]);
    expect((await run(['webhooks', 'examine'])).code).toBe(2);
    expect((await run(['webhooks', 'examine', good.url])).code).toBe(2);
    await good.close();
  });
});
