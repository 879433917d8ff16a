import { describe, expect, test } from 'vitest';
import type { Body } from '../../../test/support/api-client.ts';
import { CommandRunner, expectOk, type Response } from '../../../test/support/command-runner.ts';
import type { ApplicationSettings } from '../../kernel/application-settings.ts';

const transfers = 'developer_api_transfers';
const customers = 'developer_api_customers';
const start = Date.parse('2031-03-04T10:00:00.000Z');
const minute = 60_000;
const beneficiary = { name: 'Grace Hopper', country: 'US', account: 'US64 0001 0002' };
const request = { sourceCurrency: 'EUR', targetCurrency: 'USD', sourceAmount: 10_000 };

/** Application settings with these mid-market rates and no margin. */
const at = (rates: ApplicationSettings['fxRates'], fxMarginBasisPoints = 0) => ({
  fxMarginBasisPoints,
  fxRates: rates,
});
const usd = at({ 'EUR/USD': '1.25' });

function opened(settings: Partial<ApplicationSettings> = usd): CommandRunner {
  return new CommandRunner({ now: start, settings });
}

function quoted(runner: CommandRunner, body: object = {}): Body {
  return expectOk(runner.post(transfers, { ...request, beneficiary, ...body }));
}

function advance(runner: CommandRunner, id: string, body: object = {}): Response {
  return runner.post(`${transfers}/${id}/advance`, body);
}

describe('a quote', () => {
  test('shows its amounts, rates, cost and expiry', () => {
    const runner = opened();
    const { requestId: _requestId, id, ...body } = quoted(runner);
    const time = new Date(start).toISOString();
    expect(body).toEqual({
      ...{ object: 'transfer', sandbox: true, status: 'quoted', ...request, targetAmount: 12_500 },
      ...{ feeAmount: 50, totalAmount: 10_050, rate: '1.25', inverseRate: '0.8', midMarketRate: '1.25' },
      ...{ marginBasisPoints: 0, fundFrom: 'external', beneficiary, customerId: null, reference: null },
      ...{ metadata: {}, scenario: 'approve', autoAdvance: false, failure: null, returnCode: null },
      ...{ expiresAt: '2031-03-04T10:30:00.000Z', reconciliation: null, version: 1 },
      ...{ allowedActions: ['requote', 'accept', 'cancel', 'expire'], createdAt: time, updatedAt: time },
    });
    expect(id).toMatch(/^trf_/);
    expect(runner.written.entries).toEqual([]);
  });

  const yen = at({ 'EUR/JPY': '163.333' });
  const dinar = at({ 'KWD/JPY': '502' });
  const from = (sourceCurrency: string, targetCurrency: string) => ({ sourceCurrency, targetCurrency });
  type Amounts = readonly [source: number, target: number, fee: number];
  test.each<
    [what: string, settings: Partial<ApplicationSettings>, pair: object, side: object, amounts: Amounts]
  >([
    // 1.00 EUR is 163.333 JPY, so 163. And 163 JPY are worth 99.79 cents, so 100.
    ['a source rounds the target down', yen, from('eur', 'jpy'), { sourceAmount: 100 }, [100, 163, 1]],
    ['a target rounds the source up', yen, from('EUR', 'JPY'), { targetAmount: 163 }, [100, 163, 1]],
    ['a target that needs a cent more', yen, from('EUR', 'JPY'), { targetAmount: 164 }, [101, 164, 1]],
    // Three decimals against none: 1.000 KWD is 502 JPY.
    ['three decimals to none', dinar, from('KWD', 'JPY'), { sourceAmount: 1_001 }, [1_001, 502, 5]],
    ['none to three decimals', dinar, from('JPY', 'KWD'), { sourceAmount: 502 }, [502, 1_000, 3]],
    ['one currency, by source', usd, from('EUR', 'EUR'), { sourceAmount: 777 }, [777, 777, 4]],
    ['one currency, by target', usd, from('EUR', 'EUR'), { targetAmount: 777 }, [777, 777, 4]],
    ['the smallest fee', usd, from('EUR', 'USD'), { sourceAmount: 1 }, [1, 1, 1]],
    ['a fee of half a unit, to even', usd, from('EUR', 'USD'), { sourceAmount: 500 }, [500, 625, 2]],
  ])('%s', (_what, settings, pair, side, [sourceAmount, targetAmount, feeAmount]) => {
    const runner = opened(settings);
    expect(quoted(runner, { ...pair, sourceAmount: undefined, ...side })).toMatchObject({
      ...{ sourceAmount, targetAmount, feeAmount, totalAmount: sourceAmount + feeAmount },
    });
  });

  type Rates = readonly [rate: string, inverse: string, mid: string, margin: number, target: number];
  test.each<[what: string, settings: Partial<ApplicationSettings>, target: string, rates: Rates]>([
    ['the table', {}, 'USD', ['1.155498780629', '0.865427135679', '1.161305307165', 50, 11_554]],
    ['an own rate', usd, 'USD', ['1.25', '0.8', '1.25', 0, 12_500]],
    ['a margin', at({ 'EUR/USD': '1.25' }, 200), 'USD', ['1.225', '0.816326530612', '1.25', 200, 12_250]],
    ['an inverse', at({ 'USD/EUR': '0.8' }, 200), 'USD', ['1.225', '0.816326530612', '1.25', 200, 12_250]],
    ['one currency, without its margin', at({}, 500), 'EUR', ['1', '1', '1', 0, 10_000]],
  ])('uses %s', (_what, settings, targetCurrency, [rate, inverseRate, midMarketRate, margin, target]) => {
    expect(quoted(opened(settings), { targetCurrency })).toMatchObject({
      ...{ rate, inverseRate, midMarketRate, marginBasisPoints: margin, targetAmount: target },
    });
  });

  const tooLarge = 'amount_too_large';
  const isUnknown = 'unsupported_currency';
  const swapped = { sourceCurrency: 'VND', sourceAmount: undefined, targetAmount: 99_999_999_999 };
  const customerId = 'cus_01m7epxwjmf7za77rhky2f93cc';
  test.each<[what: string, body: object, code: string, param: string]>([
    ['a source that is not a currency', { sourceCurrency: 'XXX' }, isUnknown, '/sourceCurrency'],
    ['a target that is not a currency', { targetCurrency: 'xts' }, isUnknown, '/targetCurrency'],
    ['two that are not currencies', from('XXX', 'XXX'), isUnknown, '/sourceCurrency'],
    ['a source without a rate', { sourceCurrency: 'AOA' }, isUnknown, '/sourceCurrency'],
    ['a target without a rate', { targetCurrency: 'AOA' }, isUnknown, '/targetCurrency'],
    ['a target of zero', { ...from('JPY', 'EUR'), sourceAmount: 1 }, 'amount_too_small', '/sourceAmount'],
    ['an amount without room for its fee', { sourceAmount: 999_999_999_999 }, tooLarge, '/sourceAmount'],
    ['a large target', { targetCurrency: 'VND', sourceAmount: 99_999_999_999 }, tooLarge, '/sourceAmount'],
    ['a large source', swapped, tooLarge, '/targetAmount'],
    ['an unknown customer', { customerId }, 'customer_not_found', '/customerId'],
  ])('is refused for %s', (_what, body, code, param) => {
    const runner = opened();
    const response = runner.post(transfers, { ...request, ...body });
    expect([response.status, response.body.error]).toMatchObject([422, { code, param }]);
    expect(runner.rows('transfer')).toEqual([]);
  });

  test('is refused for an archived customer', () => {
    const runner = opened();
    const { id } = expectOk(runner.post(customers, { name: 'Ada' }));
    expect(quoted(runner, { customerId: id }).customerId).toBe(id);
    expectOk(runner.post(`${customers}/${id}/archive`));
    expect(runner.post(transfers, { ...request, customerId: id }).code).toBe('customer_archived');
  });

  const oneOf = /^Exactly one of sourceAmount, targetAmount/;
  test.each<[what: string, body: object, param: string, message: RegExp]>([
    ['both amounts', { targetAmount: 1 }, '/sourceAmount', oneOf],
    ['no amount', { sourceAmount: undefined }, '/sourceAmount', oneOf],
    ['an amount of zero', { sourceAmount: 0 }, '/sourceAmount', /must be >= 1/],
    ['a target of zero', { sourceAmount: undefined, targetAmount: 0 }, '/targetAmount', /must be >= 1/],
    ['an amount of 1e12', { sourceAmount: 1_000_000_000_000 }, '/sourceAmount', /must be <=/],
    ['a fraction', { sourceAmount: 1.5 }, '/sourceAmount', /integer/],
    ['an amount as text', { sourceAmount: '100' }, '/sourceAmount', /integer/],
    ['a currency of four letters', { sourceCurrency: 'EURO' }, '/sourceCurrency', /form/],
    ['no target currency', { targetCurrency: undefined }, '/targetCurrency', /required/],
    ['no beneficiary name', { beneficiary: { country: 'DE' } }, '/beneficiary/name', /required/],
    ['a long country', { beneficiary: { name: 'A', country: 'DEU' } }, '/beneficiary/country', /form/],
    ['another source of money', { fundFrom: 'card' }, '/fundFrom', /external, balance/],
    ['a scenario of payments', { scenario: 'capture_fails' }, '/scenario', /form/],
    ['a return without a code', { scenario: 'return:' }, '/scenario', /form/],
    ['a return with an invalid code', { scenario: 'return:a b' }, '/scenario', /form/],
    ['an empty list of scenarios', { scenario: [] }, '/scenario', /fewer than 1/],
    ['an unknown field', { amount: 1 }, '/amount', /not a known field/],
  ])('is not valid with %s', (_what, body, param, message) => {
    const runner = opened();
    // As JSON has it: a field that is undefined is absent.
    const response = runner.post(transfers, JSON.parse(JSON.stringify({ ...request, ...body })));
    expect([response.code, response.body.error.param]).toEqual(['invalid_request', param]);
    expect(response.body.error.message).toMatch(message);
    expect(runner.rows('transfer')).toEqual([]);
  });
});

describe('a new quote', () => {
  test.each<[side: object, before: readonly [number, number], after: readonly [number, number, number]]>([
    [{ sourceAmount: 10_000 }, [10_000, 20_000], [10_000, 40_000, 50]],
    [{ targetAmount: 5_000 }, [2_500, 5_000], [1_250, 5_000, 6]],
  ])('keeps %j, with the current rate and a new expiry', (side, before, [source, target, fee]) => {
    const runner = opened(at({ 'EUR/USD': '2' }));
    const old = quoted(runner, { sourceAmount: undefined, ...side });
    expect([old.sourceAmount, old.targetAmount]).toEqual(before);
    const later = runner.fork(at({ 'EUR/USD': '4' }));
    later.wallNow += 10 * minute;
    expect(expectOk(advance(later, old.id, { action: 'requote' }))).toMatchObject({
      ...{ status: 'quoted', version: 2, rate: '4', sourceAmount: source, targetAmount: target },
      ...{ feeAmount: fee, expiresAt: new Date(start + 40 * minute).toISOString() },
    });
    const history = later.written.history.map(({ action, fromStatus, toStatus }) => [
      action,
      fromStatus,
      toStatus,
    ]);
    expect(history).toEqual([
      ['quote', null, 'quoted'],
      ['requote', 'quoted', 'quoted'],
    ]);
    expect(later.written.events.map(({ type }) => type)).toEqual(['transfer.quoted', 'transfer.quoted']);
  });

  test.each<[rate: string, code: string | null]>([
    ['0.5', 'amount_too_small'],
    ['0.999999999999', 'amount_too_small'],
    ['1', null],
    ['999999999', null],
  ])('of one cent at a rate of %s gives %s', (rate, code) => {
    const runner = opened(at({ 'EUR/USD': '1' }));
    const { id } = quoted(runner, { sourceAmount: 1 });
    const response = advance(runner.fork(at({ 'EUR/USD': rate })), id, { action: 'requote' });
    expect(response.code, response.text).toBe(code);
    // No field of this request is wrong.
    if (code !== null) expect(response.body.error).not.toHaveProperty('param');
  });
});

describe('a quote that has expired', () => {
  const halfHour = 30 * minute;

  test.each([
    [{ action: 'accept' }, 'quote_expired'],
    [{}, 'invalid_state_transition'],
    [{ action: 'cancel' }, 'invalid_state_transition'],
  ])('refuses %j with %s, and not a millisecond earlier', (body, code) => {
    const runner = opened();
    const { id } = quoted(runner);
    const early = runner.fork();
    early.wallNow += halfHour - 1;
    expectOk(advance(early, id, body));
    runner.wallNow += halfHour;
    expect(advance(runner, id, body).code).toBe(code);
    expect(runner.show(id)).toMatchObject({ status: 'quoted', version: 1 });
  });

  test.each(['accepted', 'completed', 'canceled'])('is quoted again on the way to %s', (to) => {
    const runner = opened();
    const { id } = quoted(runner);
    runner.wallNow += halfHour;
    expect(expectOk(advance(runner, id, { to })).status).toBe(to);
    const actions = runner.written.history.map(({ action }) => action);
    const last = to === 'canceled' ? 'cancel' : 'accept';
    expect(actions.slice(0, 4)).toEqual(['quote', 'expire', 'requote', last]);
  });

  test('refuses other steps as expired, and can be quoted again', () => {
    const runner = opened();
    const { id, expiresAt } = quoted(runner);
    runner.wallNow += 45 * minute;
    const refused = advance(runner, id, { action: 'cancel' });
    expect(refused.body.error).toMatchObject({
      code: 'invalid_state_transition',
      details: { status: 'expired' },
    });
    const requoted = expectOk(advance(runner, id, { action: 'requote' }));
    expect(requoted).toMatchObject({ status: 'quoted', version: 3 });
    expect(requoted.expiresAt).toBe(new Date(start + 75 * minute).toISOString());
    expect(requoted).not.toHaveProperty('expiredAt');
    expect(runner.written.history.slice(1).map(({ action, at }) => [action, at])).toEqual([
      ['expire', Date.parse(String(expiresAt))],
      ['requote', runner.now],
    ]);
    expect(expectOk(advance(runner, id, { action: 'accept' })).status).toBe('accepted');
  });

  test('by request is in the wrong state until its time, and too old after it', () => {
    const runner = opened();
    const { id } = quoted(runner);
    expectOk(advance(runner, id, { action: 'expire' }));
    expect(advance(runner, id, { action: 'accept' }).code).toBe('invalid_state_transition');
    runner.wallNow += halfHour - 1;
    expect(advance(runner, id, { action: 'accept' }).code).toBe('invalid_state_transition');
    runner.wallNow += 1;
    expect(advance(runner, id, { action: 'accept' }).code).toBe('quote_expired');
  });
});
