/** What falls due next on the application clock, as the console's time line shows it. */
import { beforeAll, describe, expect, test } from 'vitest';
import type { Server } from '../../src/server.ts';
import { databaseKinds, sharedServer } from '../support/server.ts';
import { createTeam, ok, type Team } from '../support/visitor.ts';
import { closedReceiver } from '../support/webhooks.ts';

interface Item {
  readonly at: string;
  readonly kind: string;
  readonly id: string;
  readonly action: string;
  readonly label: string;
}

interface Schedule {
  readonly now: string;
  readonly items: readonly Item[];
  readonly count: number;
  readonly isMore: boolean;
}

const money = { amount: 1_250, currency: 'EUR' };
const dayMs = 86_400_000;

describe.each(databaseKinds)('the schedule on %s', (kind) => {
  let server: Server;

  beforeAll(async () => {
    server = await sharedServer(kind);
  });

  /** A team whose clock is frozen, so that nothing becomes due during a test. */
  async function frozenTeam() {
    const team = await createTeam(server);
    const path = (name: string) => `${team.orgId}/${team.appId}/${name}`;
    const post = async (name: string, body: unknown = {}) =>
      ok(await team.owner.post(path(`developer_api_${name}`), body));
    const read = async (reader: Team = team) =>
      ok(await reader.owner.get(`${reader.orgId}/${reader.appId}/schedule`)) as unknown as Schedule;
    const { now } = await post('clock/freeze');
    return { team, post, read, now: Date.parse(String(now)) };
  }

  test('has every kind of timer, in order, with its action and amount', async () => {
    const { post, read, now } = await frozenTeam();
    expect(await read()).toMatchObject({ now: new Date(now).toISOString(), items: [], count: 0 });
    const held = await post('payments', { ...money, captureMethod: 'manual' });
    await post(`payments/${held.id}/advance`, { action: 'authorize' });
    const captured = await post('payments', { ...money, amount: 5 });
    await post(`payments/${captured.id}/advance`, { to: 'captured' });
    const disputed = await post('payments', money);
    await post(`payments/${disputed.id}/advance`, { to: 'disputed' });
    const automatic = await post('payments', { ...money, autoAdvance: true });
    const quote = { sourceCurrency: 'EUR', targetCurrency: 'USD', sourceAmount: 5_000 };
    const transfer = await post('transfers', quote);
    const { items, count, isMore } = await read();
    expect({ count, isMore }).toEqual({ count: 5, isMore: false });
    expect(items.map(({ kind, action, label }) => [kind, action, label])).toEqual([
      ['payment', 'capture', '12.50 EUR'],
      ['transfer', 'expire', '50.00 EUR'],
      ['payment', 'settle', '0.05 EUR'],
      // The deadline of the dispute and the end of the authorization are both a week ahead; the dispute has the smaller id.
      ['dispute', 'expire', '12.50 EUR'],
      ['payment', 'expire', '12.50 EUR'],
    ]);
    const at = new Map(items.map(({ id, at: due }) => [id, Date.parse(due) - now]));
    expect(at.get(automatic.id)).toBe(1_000);
    expect(at.get(transfer.id)).toBe(1_800_000);
    expect(at.get(held.id)).toBe(7 * dayMs);
    expect(items.map(({ at: due }) => due)).toEqual(items.map(({ at: due }) => due).sort());
  });

  test('is that of what the clock then does: an advance to its last instant leaves nothing of it', async () => {
    const { post, read } = await frozenTeam();
    const { id } = await post('payments', money);
    await post(`payments/${id}/advance`, { to: 'captured' });
    const [settles] = (await read()).items;
    expect(settles).toMatchObject({ id, action: 'settle' });
    const { happened } = (await post('clock/advance', { to: settles?.at })) as unknown as {
      happened: readonly Item[];
    };
    expect(happened.map(({ id: of, action, at }) => [of, action, at])).toEqual([[id, 'settle', settles?.at]]);
    expect((await read()).items).toEqual([]);
  });

  test('has the next attempt of a delivery, of enabled endpoints only', async () => {
    const { post, read } = await frozenTeam();
    const webhook = await post('webhooks', { url: (await closedReceiver()).url });
    await post('customers', { name: 'Ada' });
    // The first attempt fails in the background.
    await expect.poll(() => read(), { timeout: 60_000, interval: 20 }).toMatchObject({ count: 1 });
    const { items } = await read();
    expect(items).toEqual([
      expect.objectContaining({ kind: 'delivery', action: 'attempt', label: 'customer.created' }),
    ]);
    await post(`webhooks/${webhook.id}/disable`);
    expect(await read()).toMatchObject({ items: [], count: 0 });
  });

  test('is of the application, bounded, and counts what it leaves out', async () => {
    const { team, post, read } = await frozenTeam();
    const other = await createTeam(server);
    const application = ok(await team.owner.post(`${team.orgId}/applications`, { name: 'second' }));
    await Promise.all(Array.from({ length: 105 }, () => post('payments', { ...money, autoAdvance: true })));
    const { items, count, isMore } = await read();
    expect({ shown: items.length, count, isMore }).toEqual({ shown: 100, count: 105, isMore: false });
    expect((await read(other)).items).toEqual([]);
    const second = ok(await team.owner.get(`${team.orgId}/${application.id}/schedule`));
    expect(second.items).toEqual([]);
  });
});
