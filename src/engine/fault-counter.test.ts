import { describe, expect, test } from 'vitest';
import { encodeArray } from '../db/array.ts';
import type { Database } from '../db/database.ts';
import { type ActivePlan, patternOf } from '../kernel/fault.ts';
import type { Committed } from './batch.ts';
import { type ClaimedDelivery, FaultCounter } from './fault-counter.ts';
import type { Taken } from './fault-statements.ts';

const now = Date.UTC(2026, 0, 1);
const nowText = '2026-01-01T00:00:00.000Z';

const plan = (id: string, orgId = 'org_1'): ActivePlan => ({
  ...{ orgId, id, appId: `app of ${id}`, fault: { type: 'reset_connection' }, seed: 1, share: 50 },
  ...{ operations: null, methods: null, eventTypes: null },
});
const taken = (id: string, isHit: boolean, isOver = false, orgId = 'org_1'): Taken => ({
  ...{ orgId, id, isHit, isOver },
});

/** A counter whose statements are answered one by one, and the applications that it reports as changed. */
function setUp() {
  const statements: { name: string; values: readonly unknown[] }[] = [];
  const answers: { resolve: (rows: readonly Taken[]) => void; reject: (error: Error) => void }[] = [];
  const query = ({ name }: { name: string }, values: readonly unknown[]) => {
    statements.push({ name, values });
    return new Promise((resolve, reject) => answers.push({ resolve, reject }));
  };
  const counter = new FaultCounter({ query } as unknown as Database, () => now);
  const changed: string[] = [];
  counter.watch((appId) => changed.push(appId));
  const settle = () => new Promise((resolve) => setImmediate(resolve));
  const answer = async (...rows: readonly Taken[]) => {
    const pending = answers.shift();
    if (!pending) throw new Error('no statement is waiting for its answer');
    pending.resolve(rows);
    await settle();
  };
  return { counter, statements, answers, answer, changed, settle };
}

type Want = readonly [plan: ActivePlan, n: number, requestId: string];

/** The parameters of a round: plans, how many numbers each wants, and the first request of each. */
const valuesOf = (...wants: readonly Want[]) => [
  encodeArray(
    'text',
    wants.map(([{ orgId }]) => orgId),
  ),
  encodeArray(
    'text',
    wants.map(([{ id }]) => id),
  ),
  encodeArray(
    'integer',
    wants.map(([, n]) => n),
  ),
  encodeArray(
    'bytea',
    wants.map(([one]) => patternOf(one)),
  ),
  encodeArray(
    'text',
    wants.map(([, , requestId]) => requestId),
  ),
  nowText,
];

describe('requests', () => {
  test('are hit or not as the database says', async () => {
    const { counter, statements, answer, changed } = setUp();
    const hit = counter.take(plan('a'), 'req_1');
    await answer(taken('a', true));
    expect(await hit).toBe(true);
    const missed = counter.take(plan('a'), 'req_2');
    await answer(taken('a', false));
    expect(await missed).toBe(false);
    expect(statements[0]).toEqual({ name: 'fault_plans_take', values: valuesOf([plan('a'), 1, 'req_1']) });
    expect(changed).toEqual([]);
  });

  test('that arrive during a statement share the next one, plans in sorted order', async () => {
    const { counter, statements, answer } = setUp();
    const first = counter.take(plan('a'), 'req_1');
    const waiting = [
      ...[counter.take(plan('b'), 'req_2'), counter.take(plan('a'), 'req_3')],
      ...[counter.take(plan('b'), 'req_4'), counter.take(plan('a', 'org_0'), 'req_5')],
    ];
    await answer(taken('a', false));
    expect(await first).toBe(false);
    expect(statements).toHaveLength(2);
    const round: Want[] = [
      [plan('a', 'org_0'), 1, 'req_5'],
      [plan('a'), 1, 'req_3'],
      [plan('b'), 2, 'req_2'],
    ];
    expect(statements[1]?.values).toEqual(valuesOf(...round));
    await answer(taken('a', true, false, 'org_0'), taken('a', false), taken('b', false), taken('b', true));
    expect(await Promise.all(waiting)).toEqual([false, false, true, true]);
    expect(statements).toHaveLength(2);
  });

  test('beyond 500 for one plan wait for the statement after', async () => {
    const { counter, statements, answer } = setUp();
    const all = [counter.take(plan('a'), 'req_0')];
    for (let i = 1; i <= 501; i += 1) all.push(counter.take(plan('a'), `req_${i}`));
    await answer(taken('a', false));
    expect(statements[1]?.values).toEqual(valuesOf([plan('a'), 500, 'req_1']));
    await answer(...Array<Taken>(500).fill(taken('a', false)));
    expect(statements[2]?.values).toEqual(valuesOf([plan('a'), 1, 'req_501']));
    await answer(taken('a', true));
    expect((await Promise.all(all)).map((isHit) => isHit).lastIndexOf(true)).toBe(501);
  });

  test('are not hit by a plan that is over, and the application is reported', async () => {
    const { counter, answer, changed } = setUp();
    const one = counter.take(plan('a'), 'req_1');
    await answer();
    expect([await one, changed]).toEqual([false, ['app of a']]);
    const last = counter.take(plan('b'), 'req_2');
    await answer(taken('b', true, true));
    expect([await last, changed]).toEqual([true, ['app of a', 'app of b']]);
  });

  test('fail with the statement, and later ones do not', async () => {
    const { counter, answers, answer, settle } = setUp();
    const failing = expect(counter.take(plan('a'), 'req_1')).rejects.toThrow('gone');
    const next = counter.take(plan('a'), 'req_2');
    answers.shift()?.reject(new Error('gone'));
    await failing;
    await settle();
    await answer(taken('a', true));
    expect(await next).toBe(true);
  });
});

describe('deliveries', () => {
  const claim = (id: string, token: number) =>
    ({ orgId: 'org_1', id, token, requestId: `req of ${id}` }) as ClaimedDelivery;
  const some = [
    { claim: claim('dlv_1', 1), dueAt: null },
    { claim: claim('dlv_2', 2), dueAt: now + 5 },
    { claim: claim('dlv_3', 3), dueAt: null },
  ];

  test('are hit by their place, and those without a number are not', async () => {
    const { counter, answer, changed, statements } = setUp();
    const hit = counter.takeDeliveries(plan('a'), some, now + 1_000);
    await answer(taken('a', false), taken('a', true));
    expect([...(await hit)]).toEqual(['dlv_2']);
    expect(changed).toEqual(['app of a']);
    expect(statements[0]?.values).toEqual([
      ...valuesOf([plan('a'), 3, 'req of dlv_1']),
      encodeArray('text', ['dlv_1', 'dlv_2', 'dlv_3']),
      encodeArray('integer', [1, 2, 3]),
      encodeArray('timestamptz', [null, now + 5, null]),
      '2026-01-01T00:00:01.000Z',
    ]);
  });

  test('change nothing for the application while the plan is active', async () => {
    const { counter, answer, changed, statements } = setUp();
    const hit = counter.takeDeliveries(plan('a'), some.slice(0, 1), null);
    await answer(taken('a', true));
    expect([[...(await hit)], changed, statements[0]?.values.at(-1)]).toEqual([['dlv_1'], [], null]);
  });

  test('are held until a time', async () => {
    const { counter, answer, statements } = setUp();
    const held = counter.hold(claim('dlv_1', 7), now);
    await answer();
    await held;
    expect(statements).toEqual([{ name: 'deliveries_hold', values: ['org_1', 'dlv_1', 7, nowText] }]);
  });
});

test('a commit reports the applications whose plans it changed, to every watcher', () => {
  const { counter, changed } = setUp();
  const others: string[] = [];
  counter.watch((appId) => others.push(appId));
  const changes = [
    { resource: 'fault_plan', row: { appId: 'app_1' } },
    { resource: 'payment', row: { appId: 'app_2' } },
    { resource: 'fault_plan', row: {} },
  ];
  counter.onCommit({ changes } as unknown as Pick<Committed, 'changes'>);
  expect([changed, others]).toEqual([['app_1'], ['app_1']]);
});
