import { describe, expect, test } from 'vitest';
import { matchingTypes, withResource, withType } from './event-selection.ts';
import { bodyOf, type Draft, missingIn, newDraft } from './form.tsx';

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
