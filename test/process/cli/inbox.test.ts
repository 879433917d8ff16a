import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { type CommandWorld, openCommandWorld, RunningCommand, run } from '../../support/command.ts';

describe('sandbank webhooks inbox', () => {
  let world: CommandWorld;
  let running: RunningCommand | undefined;
  beforeAll(async () => {
    world = await openCommandWorld();
  });
  afterAll(() => world?.close());
  afterEach(() => {
    running?.child.kill('SIGKILL');
    running = undefined;
  });

  async function open(...args: string[]): Promise<RunningCommand> {
    running = new RunningCommand(['webhooks', 'inbox', ...args], { env: world.env });
    await running.waitForOutput(/Press Ctrl-C/, 'stderr');
    return running;
  }
  const pay = () => world.owner.client.post('developer_api_payments', { amount: 1250, currency: 'EUR' });

  test('creates the inbox, prints each attempt with headers and body, and changes its behavior', async () => {
    const first = await open('--headers', '--body');
    expect(first.stderr).toMatch(
      /Secret: whsec_\S+\nInbox whk_\w+ responds with 200\. Press Ctrl-C to stop\./,
    );
    const { body: payment } = await pay();
    await first.waitForOutput(
      /payment\.created {2}evt_\w+ {2}attempt 1 {2}-> 200 {2}signature verified {2}\d+ ms\n/,
    );
    await first.waitForOutput(new RegExp(`  webhook-signature: v1,\\S+\\n(?:  .*\\n)*  \\{.*${payment.id}`));
    expect(await first.stop()).toBe(0);

    const second = await open('--respond', '500', '--retry-profile', 'fast', '--json');
    expect(second.stderr).not.toContain('Secret');
    await pay();
    await second.waitForOutput(/"number":2/);
    const [one, two] = second.stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as Record<string, unknown>);
    expect(one).toMatchObject({
      object: 'inbox_attempt',
      status: 'pending',
      eventType: 'payment.created',
      number: 1,
      responseStatus: 500,
      signatureVerified: true,
    });
    expect(two).toMatchObject({ number: 2, deliveryId: one?.deliveryId });
    expect(await second.stop('SIGTERM')).toBe(0);
    const shown = await world.json(['webhooks', 'inbox', '--no-follow', '--delay', '2s']);
    expect(shown).toMatchObject({ inbox: { type: 'respond', responseStatus: 200, delayMs: 2_000 } });
    const silent = await world.sandbank('webhooks', 'inbox', '--no-follow', '--timeout');
    expect(silent.stdout).toMatch(/inbox +never responds/);
  });

  test('rejects contradictory options with exit code 2', async () => {
    const result = await run(['webhooks', 'inbox', '--timeout', '--respond', '500'], { env: world.env });
    expect([result.code, result.stderr]).toEqual([2, expect.stringContaining('--timeout')]);
  });
});
