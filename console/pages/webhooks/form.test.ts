import { describe, expect, test } from 'vitest';
import { ApiProblem } from '../../client/request.ts';
import { isAbout } from '../../parts/field.tsx';
import { matchingTypes, withResource, withType } from './event-selection.ts';
import { bodyOf, type Draft, isShownByField, missingIn, newDraft } from './form.tsx';

const draft: Draft = {
  ...newDraft(undefined, { webhookConcurrencyDefault: 10 }),
  url: 'https://shop.example/webhooks',
};

describe('the webhook form', () => {
  test('starts with all events, standard retries and ten concurrent requests', () => {
    expect(newDraft(undefined, { webhookConcurrencyDefault: 10 })).toEqual({
      url: '',
      description: '',
      eventTypes: ['*'],
      retryProfile: 'standard',
      maxConcurrency: '10',
      headers: null,
    });
  });

  test('starts with the defaults of the application', () => {
    const defaults = { eventTypes: ['payment.*'], retryProfile: 'fast' as const, maxConcurrency: 1 };
    expect(newDraft(defaults, {})).toMatchObject({ ...defaults, maxConcurrency: '1' });
  });

  test.each<[Partial<Draft>, object]>([
    [{}, {}],
    [{ url: ' https://a.example ' }, { url: 'https://a.example' }],
    [{ description: ' Orders ' }, { description: 'Orders' }],
    [{ description: ' ' }, { description: null }],
    [{ maxConcurrency: ' 7 ' }, { maxConcurrency: 7 }],
    [{ eventTypes: ['payment.*', 'refund.failed'] }, { eventTypes: ['payment.*', 'refund.failed'] }],
  ])('with %j sends %j', (part, sent) => {
    expect(bodyOf({ ...draft, ...part })).toStrictEqual({
      url: 'https://shop.example/webhooks',
      description: null,
      eventTypes: ['*'],
      retryProfile: 'standard',
      maxConcurrency: 10,
      ...sent,
    });
  });

  test.each<[Partial<Draft>, boolean]>([
    [{}, true],
    [{ url: ' ' }, false],
    [{ eventTypes: [] }, false],
    [{ maxConcurrency: '1' }, true],
    [{ maxConcurrency: '64' }, true],
    [{ maxConcurrency: '0' }, false],
    [{ maxConcurrency: '65' }, false],
    [{ maxConcurrency: '' }, false],
    [{ maxConcurrency: '1.5' }, false],
    [{ maxConcurrency: '-1' }, false],
  ])('with %j can be sent: %s', (part, isReady) => {
    const missing = Object.values(missingIn({ ...draft, ...part }, { webhookConcurrencyMax: 64 }));
    expect(missing.every((message) => message === undefined)).toBe(isReady);
  });
});

describe('where an error is shown', () => {
  const about = (param: string | undefined) => new ApiProblem({ status: 400, code: 'x', message: '', param });

  test.each([
    ['amount', 'amount', true],
    ['body.amount', 'amount', true],
    ['body/amount', 'amount', true],
    ['/amount', 'amount', true],
    ['/beneficiary/name', 'beneficiary.name', true],
    ['beneficiary.name', 'beneficiary', true],
    ['beneficiary', 'beneficiary.name', false],
    ['amountMax', 'amount', false],
    [undefined, 'amount', false],
  ])('a problem with %s belongs to the field %s: %s', (param, field, isShown) => {
    expect(isAbout(about(param), field)).toBe(isShown);
  });

  test('without a problem nothing is shown', () => {
    expect(isAbout(null, 'amount')).toBe(false);
  });

  test.each([
    ['url', true],
    ['eventTypes.0', true],
    ['/maxConcurrency', true],
    ['retryProfile', false],
    [undefined, false],
  ])('a webhook problem with %s is shown by a field: %s', (param, isShown) => {
    expect(isShownByField(about(param))).toBe(isShown);
  });
});

describe('event types', () => {
  const event = (type: string, description: string) => ({
    type,
    resource: type.split('.')[0] ?? '',
    description,
    example: {},
  });
  const events = [
    event('payment.captured', 'The money was taken.'),
    event('payment.failed', 'The provider declined it.'),
    event('refund.failed', 'The refund did not arrive.'),
  ];

  test.each([
    ['', ['payment.captured', 'payment.failed', 'refund.failed']],
    ['  ', ['payment.captured', 'payment.failed', 'refund.failed']],
    ['failed', ['payment.failed', 'refund.failed']],
    [' PAYMENT. ', ['payment.captured', 'payment.failed']],
    ['declined', ['payment.failed']],
    ['nothing like it', []],
  ])('the search %j finds %j', (query, types) => {
    expect(matchingTypes(events, query).map(({ type }) => type)).toEqual(types);
  });

  test.each<[string[], string, boolean, string[]]>([
    [[], 'payment.failed', true, ['payment.failed']],
    [['refund.failed'], 'payment.failed', true, ['refund.failed', 'payment.failed']],
    [['refund.failed', 'payment.failed'], 'refund.failed', false, ['payment.failed']],
    [['refund.failed'], 'payment.failed', false, ['refund.failed']],
  ])('%j with %s switched to %s is %j', (value, type, isOn, result) => {
    expect(withType(value, type, isOn)).toEqual(result);
  });

  test.each<[string[], string, boolean, string[]]>([
    [[], 'payment', true, ['payment.*']],
    [['payment.failed', 'refund.failed'], 'payment', true, ['refund.failed', 'payment.*']],
    [['payment.*', 'refund.*'], 'payment', false, ['refund.*']],
    [['payment_link.paid'], 'payment', true, ['payment_link.paid', 'payment.*']],
  ])('%j with all of %s switched to %s is %j', (value, resource, isOn, result) => {
    expect(withResource(value, resource, isOn)).toEqual(result);
  });
});
