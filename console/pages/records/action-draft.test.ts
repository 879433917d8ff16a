import { describe, expect, test } from 'vitest';
import type { StateMachine } from '../../generated/shapes.ts';
import {
  type ActionDraft,
  bodyOf,
  emptyDraft,
  type FieldRules,
  fieldsOfAction,
  fieldsOfTargetState,
  isIrreversible,
  type Resource,
} from './action-draft.ts';
import { beneficiaryOf } from './beneficiary-fields.tsx';
import { recordOf, rowsOf, rowsProblem } from './rows.tsx';
import { scenarioOf } from './scenario-field.tsx';

const filled: ActionDraft = {
  amount: ' 12.50 ',
  isFinal: true,
  reason: ' duplicate ',
  code: ' insufficient_funds ',
  rows: [
    { key: 0, name: ' order ', value: ' 17 ' },
    { key: 1, name: ' ', value: 'without a name' },
  ],
  beneficiary: { name: ' Ada ', country: ' gb ', account: '' },
};
const beneficiary = { name: 'Ada', country: 'GB' };

const noAmounts = { actions: [], amountMaximums: {} };

/** The part of the capabilities that these tests use; test/api/status.test.ts checks what the server returns. */
const rules: FieldRules = [
  {
    name: 'payment',
    actions: [
      { action: 'capture', from: ['authorized'], to: ['captured', 'partially_captured'] },
      { action: 'expire', from: ['partially_captured'], to: ['captured'] },
      { action: 'refund', from: ['captured'], to: ['partially_refunded', 'refunded'] },
      { action: 'dispute', from: ['captured'], to: ['disputed'] },
    ],
    amountMaximums: {
      capture: 'amountCapturable',
      refund: 'amountRefundable',
      dispute: 'amountRefundable',
    },
    actionFields: {
      authorize: [],
      cancel: [],
      capture: ['amount', 'currency', 'final'],
      fail: ['failureCode'],
      refund: ['amount', 'currency', 'reason', 'metadata'],
      dispute: ['amount', 'currency', 'reason'],
    },
    targetFields: {
      settled: [],
      partially_captured: ['amount', 'currency'],
      partially_refunded: ['amount', 'currency'],
      disputed: ['amount', 'currency'],
      failed: ['failureCode'],
    },
  },
  { name: 'refund', actionFields: { succeed: [] }, targetFields: { succeeded: [] }, ...noAmounts },
  {
    name: 'dispute',
    actionFields: { submit_evidence: ['evidence'], win: [] },
    targetFields: { won: [] },
    ...noAmounts,
  },
  {
    name: 'transfer',
    actionFields: { accept: ['beneficiary'], return: ['returnCode'], fail: ['failureCode'], fund: [] },
    targetFields: {
      returned: ['beneficiary', 'returnCode'],
      failed: ['beneficiary', 'failureCode'],
      completed: ['beneficiary'],
    },
    ...noAmounts,
  },
];

describe('the body of an action', () => {
  test.each<[Resource, string, object]>([
    ['payment', 'capture', { amount: 1250, final: true }],
    ['payment', 'fail', { failureCode: 'insufficient_funds' }],
    ['payment', 'refund', { amount: 1250, reason: 'duplicate', metadata: { order: ' 17 ' } }],
    ['payment', 'dispute', { amount: 1250, reason: 'duplicate' }],
    ['payment', 'authorize', {}],
    ['payment', 'cancel', {}],
    ['refund', 'succeed', {}],
    ['dispute', 'submit_evidence', { evidence: { order: ' 17 ' } }],
    ['dispute', 'win', {}],
    ['transfer', 'accept', { beneficiary }],
    ['transfer', 'return', { returnCode: 'insufficient_funds' }],
    ['transfer', 'fail', { failureCode: 'insufficient_funds' }],
    ['transfer', 'fund', {}],
  ])('%s %s sends its own fields and no other', (resource, action, body) => {
    expect(bodyOf(fieldsOfAction(rules, resource, action), filled, 'EUR')).toStrictEqual(body);
  });

  test.each<[Resource, string, object]>([
    ['payment', 'partially_captured', { amount: 1250 }],
    ['payment', 'failed', { failureCode: 'insufficient_funds' }],
    ['payment', 'settled', {}],
    ['transfer', 'returned', { returnCode: 'insufficient_funds', beneficiary }],
    ['transfer', 'failed', { failureCode: 'insufficient_funds', beneficiary }],
    ['transfer', 'completed', { beneficiary }],
    ['transfer', '', {}],
    ['dispute', 'won', {}],
  ])('%s to the state %j sends its own fields and no other', (resource, state, body) => {
    expect(bodyOf(fieldsOfTargetState(rules, resource, state), filled, 'EUR')).toStrictEqual(body);
  });

  test.each<[Resource, string]>([
    ['payment', 'capture'],
    ['payment', 'fail'],
    ['payment', 'refund'],
    ['dispute', 'submit_evidence'],
    ['transfer', 'accept'],
    ['transfer', 'return'],
  ])('%s %s with an empty form sends nothing', (resource, action) => {
    expect(bodyOf(fieldsOfAction(rules, resource, action), emptyDraft, 'EUR')).toStrictEqual({});
  });

  test.each([
    ['12.505', 'EUR'],
    ['abc', 'EUR'],
    ['-1', 'EUR'],
    ['0', 'EUR'],
    ['0.00', 'EUR'],
    ['12.5', 'JPY'],
    ['1,250', 'KWD'],
  ])('the amount %j in %s cannot be sent', (amount, currency) => {
    const fields = fieldsOfAction(rules, 'payment', 'capture');
    expect(bodyOf(fields, { ...emptyDraft, amount }, currency)).toBeUndefined();
  });

  test.each([
    ['JPY', '1250', 1250],
    ['EUR', '12.5', 1250],
    ['EUR', '1,5', 150],
    ['KWD', '1.25', 1250],
  ])('the amount has the decimals of %s', (currency, amount, minor) => {
    const fields = fieldsOfAction(rules, 'payment', 'refund');
    expect(bodyOf(fields, { ...emptyDraft, amount }, currency)).toStrictEqual({ amount: minor });
  });
});

test.each([
  ['capture', 'amountCapturable'],
  ['refund', 'amountRefundable'],
  // Pending refunds and earlier disputes reduce the refundable amount, and the disputable amount with it.
  ['dispute', 'amountRefundable'],
])('the maximum of %s is %s of the payment', (action, maximum) => {
  expect(fieldsOfAction(rules, 'payment', action)[0]).toEqual({ kind: 'amount', maximum });
});

test.each([
  ['partially_captured', 'amountCapturable'],
  ['partially_refunded', 'amountRefundable'],
  ['disputed', 'amountRefundable'],
])('the maximum on the way to %s is %s of the payment', (state, maximum) => {
  expect(fieldsOfTargetState(rules, 'payment', state)[0]).toEqual({ kind: 'amount', maximum });
});

test('a field that this console version does not know has no input', () => {
  const newer = [
    { name: 'payment', actionFields: { capture: ['amount', 'tip'] }, targetFields: {}, ...noAmounts },
  ];
  expect(fieldsOfAction(newer, 'payment', 'capture').map(({ kind }) => kind)).toEqual(['amount']);
});

test.each<[Resource, string, string[]]>([
  ['payment', 'fail', ['declineCode']],
  ['transfer', 'return', ['returnCode']],
  ['payment', 'refund', ['amount', 'reason', 'metadata']],
])('the form of %s %s has the fields %j', (resource, action, params) => {
  expect(fieldsOfAction(rules, resource, action).map(({ kind }) => kind)).toEqual(params);
});

const move = (action: string, to: string, broughtBy: string | null = null) => ({
  ...{ action, from: ['open'], to: [to], stays: false, events: [], condition: null, broughtBy },
});
const machine: StateMachine = {
  ...{ resource: 'payment', states: [], finalStates: [], events: [], goal: 'settled' },
  setbacks: ['canceled', 'charged_back'],
  moves: [
    move('cancel', 'canceled'),
    move('settle', 'settled'),
    // It reports a settlement, and the record remains off the path.
    { ...move('settle', 'charged_back'), stays: true },
    { ...move('authorize', 'settled'), to: ['settled', 'canceled'] },
    move('dispute_lost', 'charged_back', 'dispute'),
  ],
};

test.each([
  ['cancel', true],
  ['settle', false],
  // The result is not known before.
  ['authorize', false],
  // Nobody can request it.
  ['dispute_lost', false],
])('%s asks for confirmation: %s', (action, isConfirmed) => {
  expect(isIrreversible(machine, action)).toBe(isConfirmed);
});

test('no action asks before the state machine is loaded', () => {
  expect(isIrreversible(undefined, 'cancel')).toBe(false);
});

describe('rows', () => {
  test('become an object with trimmed names and unchanged values', () => {
    expect(recordOf(filled.rows)).toEqual({ order: ' 17 ' });
  });
  test('that are empty are omitted', () => {
    expect(recordOf([])).toBeUndefined();
    expect(recordOf([{ key: 0, name: '  ', value: '' }])).toBeUndefined();
  });
  test.each([
    [
      [
        ['a', '1'],
        ['  ', 'x'],
      ],
      { key: 1, text: 'Line 2 needs a name.' },
    ],
    [
      [
        ['a', '1'],
        [' a ', '2'],
      ],
      { key: 1, text: 'An earlier line has the name “a”.' },
    ],
    [
      [
        ['a', ''],
        ['', ''],
        ['b', '1'],
        ['', ''],
      ],
      null,
    ],
  ] as const)('%j have the problem %j', (lines, problem) => {
    expect(rowsProblem(lines.map(([name, value], key) => ({ key, name, value })))).toEqual(problem);
  });
  test.each([{}, { a: '1' }, { a: '', 'b c': '2' }])('of %j become the same object again', (record) => {
    expect(recordOf(rowsOf(record)) ?? {}).toEqual(record);
  });
  test('of null are empty', () => {
    expect(rowsOf(null)).toEqual([]);
  });
});

test.each([
  [{ name: '', country: '', account: '' }, undefined],
  [{ name: ' ', country: ' ', account: ' ' }, undefined],
  [{ name: ' Ada ', country: '', account: '' }, { name: 'Ada' }],
  [
    { name: 'Ada', country: 'gb', account: ' GB29 ' },
    { name: 'Ada', country: 'GB', account: 'GB29' },
  ],
  [{ name: '', country: 'de', account: '' }, { country: 'DE' }],
])('the beneficiary %j is sent as %j', (draft, sent) => {
  expect(beneficiaryOf(draft)).toStrictEqual(sent);
});

test.each([
  [['approve'], 'approve'],
  [
    ['decline:insufficient_funds', 'approve'],
    ['decline:insufficient_funds', 'approve'],
  ],
])('the scenario steps %j are sent as %j', (steps, sent) => {
  expect(scenarioOf(steps)).toEqual(sent);
});
