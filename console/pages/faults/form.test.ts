import { expect, test } from 'vitest';
import type { Fault } from '../../generated/shapes.ts';
import { bodyOf, type Draft, emptyDraft, missingIn } from './form.tsx';
import { describeFault, describeReach, faultLabels, faultTypes } from './labels.ts';

test.each<[Partial<Draft>, object]>([
  [{}, { on: 'requests', fault: { type: 'lose_answer' }, count: 1 }],
  [
    { type: 'latency', delayMs: '500' },
    { on: 'requests', fault: { type: 'latency', delayMs: 500 }, count: 1 },
  ],
  [
    { type: 'error', code: 'rate_limited' },
    { on: 'requests', fault: { type: 'error', code: 'rate_limited' }, count: 1 },
  ],
  [{ type: 'reset_connection' }, { on: 'requests', fault: { type: 'reset_connection' }, count: 1 }],
  [
    { on: 'webhooks', type: 'duplicate', copies: '3' },
    { on: 'webhooks', fault: { type: 'duplicate', copies: 3 }, count: 1 },
  ],
  [
    { on: 'webhooks', type: 'delay', seconds: '90' },
    { on: 'webhooks', fault: { type: 'delay', seconds: 90 }, count: 1 },
  ],
  [
    { on: 'webhooks', type: 'drop' },
    { on: 'webhooks', fault: { type: 'drop' }, count: 1 },
  ],
  [
    { count: '', share: '25', seed: '7' },
    { on: 'requests', fault: { type: 'lose_answer' }, share: 25, seed: 7 },
  ],
  [{ seed: '0' }, { on: 'requests', fault: { type: 'lose_answer' }, count: 1, seed: 0 }],
  [
    { only: ' createPayment,refundPayment  createTransfer ' },
    {
      on: 'requests',
      fault: { type: 'lose_answer' },
      count: 1,
      operations: ['createPayment', 'refundPayment', 'createTransfer'],
    },
  ],
  [
    { on: 'webhooks', type: 'reorder', only: 'payment.*' },
    { on: 'webhooks', fault: { type: 'reorder' }, count: 1, eventTypes: ['payment.*'] },
  ],
])('a fault plan with %j is sent as %j', (part, body) => {
  expect(bodyOf({ ...emptyDraft, ...part })).toStrictEqual(body);
});

const limits = {
  faultCountMax: 10_000,
  faultShareMax: 100,
  faultSeedMax: 4_294_967_295,
  faultDelayMsMax: 500,
};

test.each<[Partial<Draft>, boolean]>([
  [{}, true],
  [{ count: '', share: '10' }, true],
  [{ count: '', share: '' }, false],
  [{ count: ' ', share: ' ' }, false],
  [{ count: 'x' }, false],
  [{ count: '-1' }, false],
  [{ count: '1.5' }, false],
  [{ seed: 'x' }, false],
  [{ seed: '0' }, true],
  [{ count: '0' }, false],
  [{ share: '100' }, true],
  [{ share: '101' }, false],
  [{ type: 'latency', delayMs: '500' }, true],
  [{ type: 'latency', delayMs: '501' }, false],
  [{ on: 'webhooks', type: 'duplicate', copies: '' }, false],
  // The parameter of another fault type is not sent.
  [{ delayMs: 'x', copies: 'x', seconds: 'x' }, true],
])('a fault plan with %j can be sent: %s', (part, isReady) => {
  const missing = Object.values(missingIn({ ...emptyDraft, ...part }, limits));
  expect(missing.every((message) => message === undefined)).toBe(isReady);
});

test('every fault is offered for requests or for webhooks, and never for both', () => {
  const offered = [...faultTypes.requests, ...faultTypes.webhooks];
  expect(offered.toSorted()).toEqual(Object.keys(faultLabels).sort());
});

test.each<[Fault, string]>([
  [{ type: 'latency', delayMs: 500 }, 'Latency, 500 ms'],
  [{ type: 'error', code: 'rate_limited' }, 'Error rate_limited'],
  [{ type: 'duplicate', copies: 1 }, 'Duplicate'],
  [{ type: 'duplicate', copies: 3 }, 'Duplicate, 3 copies'],
  [{ type: 'delay', seconds: 60 }, 'Delay, 60 s'],
  [{ type: 'drop' }, 'Drop'],
])('%j is described as %s', (fault, text) => {
  expect(describeFault(fault)).toBe(text);
});

test.each([
  [1, null, 'The next one'],
  [5, null, 'The next 5'],
  [null, 25, '25 %'],
  [5, 25, '25 %, at most 5'],
])('a count of %s and a share of %s is described as %s', (count, share, text) => {
  expect(describeReach({ count, share })).toBe(text);
});
