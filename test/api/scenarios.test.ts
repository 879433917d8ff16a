import { beforeAll, describe, expect, test } from 'vitest';
import { declineCodes, declines } from '../../src/kernel/decline.ts';
import { magicAmounts, paymentScenarios, testCards } from '../../src/kernel/scenario.ts';
import type { Server } from '../../src/server.ts';
import type { Body } from '../support/api-client.ts';
import { databaseKinds, sharedServer } from '../support/server.ts';
import { type Tenant, tenant } from '../support/tenant.ts';
import { done, type Lifecycle, lifecycle } from './lifecycle.ts';
import { payments, together } from './trails.ts';

/** What each scenario does when it is advanced until it stops by itself, with automatic capture. */
const walks: Readonly<Record<string, readonly string[]>> = {
  approve: ['captured', 'settled'],
  require_action: ['requires_action', 'captured', 'settled'],
  async: ['processing', 'captured', 'settled'],
  // A refused capture is a soft decline: the payment may be tried three times.
  capture_fails: [
    ...['authorized', 'failed', 'pending', 'authorized', 'failed', 'pending', 'authorized', 'failed'],
  ],
  refund_fails: ['captured', 'settled'],
  refund_pending: ['captured', 'settled'],
  dispute: ['captured', 'disputed'],
  settle_short: ['captured', 'settled'],
  settle_missing: ['captured', 'settled'],
  settle_duplicate: ['captured', 'settled'],
  settle_unknown: ['captured', 'settled'],
};
const soft = ['failed', 'pending', 'failed', 'pending', 'failed'];
const hardCodes = [
  ...['expired_card', 'incorrect_number', 'invalid_account', 'account_closed', 'lost_card', 'stolen_card'],
  ...['pickup_card', 'restricted_card', 'fraudulent', 'card_not_supported', 'currency_not_supported'],
  ...['transaction_not_allowed', 'mandate_revoked'],
];

function walkOf(scenario: string): readonly string[] | undefined {
  if (!scenario.startsWith('decline:')) return walks[scenario];
  return hardCodes.includes(scenario.slice('decline:'.length)) ? ['failed'] : soft;
}

describe.each(databaseKinds)('scenarios on %s', (kind) => {
  let server: Server;
  let acme: Tenant;
  let life: Lifecycle;

  beforeAll(async () => {
    server = await sharedServer(kind);
    acme = await tenant(server);
    life = lifecycle(acme.client);
  });

  async function statuses(id: string): Promise<string[]> {
    const seen: string[] = [];
    for (let steps = 0; steps < 12; steps += 1) {
      const { status, body } = await life.advance(id);
      if (status !== 200) return seen;
      seen.push(body.status);
    }
    throw new Error('the scenario has no end');
  }

  test('every scenario walks as documented, and then waits', async () => {
    const walked = await together(paymentScenarios, async (scenario) => [
      scenario,
      await statuses((await life.create({ scenario })).id),
    ]);
    expect(Object.fromEntries(walked)).toEqual(
      Object.fromEntries(paymentScenarios.map((scenario) => [scenario, walkOf(scenario)])),
    );
  });

  test('every decline tells its code and words, and whether it is worth another attempt', async () => {
    const shown = await together(declineCodes, async (code) => {
      const { id } = await life.create({ scenario: `decline:${code}` });
      return (await life.advance(id)).body;
    });
    shown.forEach((body, i) => {
      const code = declineCodes[i] ?? 'generic_decline';
      const isSoft = !hardCodes.includes(code);
      const failure = { code, message: declines[code].words, retryable: isSoft };
      expect(body).toMatchObject({
        status: 'failed',
        failure,
        attempts: [{ number: 1, scenario: `decline:${code}`, failure, failedAt: body.failedAt }],
        allowedActions: isSoft ? ['retry'] : [],
        amountCaptured: 0,
      });
    });
  });

  test('a list holds for successive attempts, and its last entry for all that follow', async () => {
    const scenario = ['decline:insufficient_funds', 'require_action'];
    const { id } = await life.create({ scenario });
    expect(await statuses(id)).toEqual(['failed', 'pending', 'requires_action', 'captured', 'settled']);
    const read = await life.read(id);
    expect(read).not.toHaveProperty('failedAt');
    expect(read).toMatchObject({
      scenario,
      failure: null,
      attempts: [
        { number: 1, scenario: 'decline:insufficient_funds', failure: { code: 'insufficient_funds' } },
        { number: 2, scenario: 'require_action', failure: null, failedAt: null },
      ],
    });
    const lasting = await life.create({ scenario: ['decline:do_not_honor'] });
    expect(await statuses(lasting.id)).toEqual(soft);
  });

  test('after three attempts, however soft, there is no fourth', async () => {
    const { id } = await life.create({ scenario: 'decline:try_again_later' });
    await statuses(id);
    const answer = await life.advance(id, { action: 'retry' });
    expect(answer.code).toBe('invalid_state_transition');
    expect(answer.body.error.message).toContain('fewer than 3 attempts');
    expect((await life.read(id)).attempts).toHaveLength(3);
  });

  test('a failure by hand takes the code it is given, else that of the scenario, else a general one', async () => {
    const failed = async (scenario: string, body: object) =>
      (await life.paid([body], { scenario })).failure as { code: string };
    expect(await failed('approve', { action: 'fail', failureCode: 'lost_card' })).toMatchObject({
      code: 'lost_card',
    });
    expect(await failed('decline:expired_card', { action: 'fail' })).toMatchObject({ code: 'expired_card' });
    expect(await failed('approve', { action: 'fail' })).toMatchObject({ code: 'generic_decline' });
    expect(await failed('approve', { to: 'failed', failureCode: 'stolen_card' })).toMatchObject({
      code: 'stolen_card',
    });
  });

  test('a refused capture releases the hold, and the next attempt holds anew', async () => {
    const { id } = await life.paid(['authorize'], { scenario: ['capture_fails', 'approve'] });
    const refused = await life.advance(id, { action: 'capture', amount: 4_000 });
    expect(refused.body).toMatchObject({
      status: 'failed',
      failure: { code: 'processing_error', retryable: true },
      amountCapturable: 0,
    });
    expect(refused.body).not.toHaveProperty('authorizationExpiresAt');
    expect(await life.balances(id)).toEqual({});
    done(await life.advance(id, { action: 'retry' }));
    expect((await life.advance(id, { to: 'captured' })).body.feeAmount).toBe(320);
  });

  test('a simulated decline is no error of HTTP', async () => {
    const { id } = await life.create({ scenario: 'decline:fraudulent' });
    expect((await life.advance(id)).status).toBe(200);
  });

  test('every test card stands for its scenario, and only its last four digits are kept', async () => {
    const cards = Object.keys(testCards);
    const made = await together(cards, (number) => life.create({ paymentMethod: { type: 'card', number } }));
    expect(Object.fromEntries(made.map(({ scenario }, i) => [cards[i], scenario]))).toEqual(testCards);
    made.forEach(({ paymentMethod }, i) => {
      expect(paymentMethod).toEqual({ type: 'card', lastFour: cards[i]?.slice(-4) });
    });
    for (const table of ['payments', 'events', 'idempotency', 'audit', 'state_history']) {
      const text = `select count(*)::integer as n from ${table} t where t::text ~ '${cards.join('|')}'`;
      expect(await server.database.query({ name: '', text }, []), table).toEqual([{ n: 0 }]);
    }
  });

  test.each(['4111111111111111', '12345678', '4242 4242 4242 4242', ''])(
    'the card number "%s" is refused, and stored nowhere',
    async (number) => {
      const answer = await acme.client.post(payments, {
        amount: 100,
        currency: 'EUR',
        paymentMethod: { type: 'card', number },
      });
      expect(answer.code).toBe('invalid_request');
      expect(answer.body.error.param).toBe('/paymentMethod/number');
      if (number === '') return;
      expect(answer.text).not.toContain(number);
      for (const table of ['payments', 'audit', 'idempotency']) {
        const text = `select count(*)::integer as n from ${table} t where strpos(t::text, $1) > 0`;
        expect(await server.database.query({ name: '', text }, [number])).toEqual([{ n: 0 }]);
      }
    },
  );

  test('every magic amount stands for its scenario, in any currency, and its neighbours for nothing', async () => {
    const amounts = [...magicAmounts.keys()].map(Number);
    const made = await together(amounts, (amount) => life.create({ amount, currency: 'JPY' }));
    expect(new Map(made.map(({ amount, scenario }) => [BigInt(Number(amount)), scenario]))).toEqual(
      magicAmounts,
    );
    const near = await together([999_000_000, 999_000_002, 51, 99_900_051], (amount) =>
      life.create({ amount }),
    );
    expect(near.map(({ scenario }) => scenario)).toEqual(['approve', 'approve', 'approve', 'approve']);
  });

  test('a scenario by name wins over a test card, and a test card over an amount', async () => {
    const card = { type: 'card', number: '4000000000000069' };
    const both = { amount: 999_000_051, paymentMethod: card };
    expect((await life.create(both)).scenario).toBe('decline:expired_card');
    expect((await life.create({ ...both, scenario: 'approve' })).scenario).toBe('approve');
    const number = '4242424242424242';
    const named: Body = await life.create({ amount: 999_000_051, paymentMethod: { type: 'card', number } });
    expect(named.scenario).toBe('approve');
  });
});
