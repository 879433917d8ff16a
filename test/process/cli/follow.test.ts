import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type CommandWorld, openCommandWorld, RunningCommand } from '../../support/command.ts';

interface Shown {
  readonly id: string;
  readonly [field: string]: unknown;
}

const linesOf = (text: string) => text.split('\n').filter((line) => line !== '');
const parsed = (text: string) => linesOf(text).map((line) => JSON.parse(line) as Shown);

describe('sandbank events tail and logs tail', () => {
  let world: CommandWorld;
  beforeAll(async () => {
    world = await openCommandWorld();
  });
  afterAll(() => world?.close());

  test('events are shown oldest first, filtered by type, and followed without gaps or duplicates', async () => {
    const { id } = await world.json<Shown>(['customers', 'create', '--name', 'First']);
    const tail = new RunningCommand(['events', 'tail', '--follow', '--types', 'customer.*', '--json'], {
      env: world.env,
    });
    await tail.waitForOutput(new RegExp(id));
    await tail.waitForOutput(/Following/, 'stderr');
    const second = await world.json<Shown>(['customers', 'create', '--name', 'Second']);
    await world.json(['payments', 'create', '--minor', '1']);
    await tail.waitForOutput(new RegExp(second.id));
    const [firstEvent] = parsed(tail.stdout);
    await world.json(['events', 'replay', firstEvent?.id ?? '']);
    await tail.waitForOutput(/"isReplay":true/);
    expect(await tail.stop()).toBe(0);
    const shown = parsed(tail.stdout);
    expect(shown.map((one) => [one.type, one.resourceId, one.isReplay])).toEqual([
      ['customer.created', id, false],
      ['customer.created', second.id, false],
      ['customer.created', id, true],
    ]);
    const text = await world.sandbank('events', 'tail', '--last', '1', '--types', 'customer.created');
    expect(linesOf(text.stdout)).toEqual([
      expect.stringMatching(new RegExp(`customer.created +evt_\\w+ +${second.id}$`)),
    ]);
    expect(await world.json(['events', 'get', firstEvent?.id ?? ''])).toMatchObject({
      type: 'customer.created',
    });
    const lastHour = parsed((await world.sandbank('events', 'tail', '--since', '1h', '--json')).stdout);
    expect(lastHour.map(({ type }) => type)).toEqual([
      'customer.created',
      'customer.created',
      'payment.created',
    ]);
  });

  test('requests are shown and followed, each once, without the polling requests', async () => {
    const tail = new RunningCommand(['logs', 'tail', '--follow', '--errors', '--json'], { env: world.env });
    const missing = 'pay_01m7g9et05ev99ykp544y4j2h6';
    await world.sandbank('payments', 'get', missing);
    await tail.waitForOutput(new RegExp(missing));
    await world.json(['payments', 'list']);
    for (const name of ['Ada', 'Grace']) await world.json(['customers', 'create', '--name', name]);
    await world.sandbank('customers', 'get', 'cus_nobody');
    await tail.waitForOutput(/cus_nobody/);
    expect(await tail.stop()).toBe(0);
    const shown = parsed(tail.stdout);
    expect(shown.every((one) => Number(one.httpStatus) >= 400)).toBe(true);
    expect(new Set(shown.map((one) => one.id)).size).toBe(shown.length);
    const text = await world.sandbank('logs', 'tail', '--status', '2xx', '--method', 'POST', '--last', '2');
    expect(linesOf(text.stdout)).toHaveLength(2);
    expect(text.stdout).toMatch(/ {2}20\d {2}POST \/_api\/developer_api_\w+/);
    const all = parsed((await world.sandbank('logs', 'tail', '--last', '100', '--json')).stdout);
    expect(all.map((one) => one.route)).not.toContain('listRequests');
    expect((await world.sandbank('logs', 'tail', '--status', 'bad')).code).toBe(2);
    expect((await world.sandbank('logs', 'tail', '--status', '4xx', '--errors')).code).toBe(2);
  });
});
