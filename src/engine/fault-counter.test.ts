import { describe, expect, test } from 'vitest';
import { encodeArray } from '../db/array.ts';
import type { Database } from '../db/database.ts';
import { formatId } from '../kernel/ids.ts';
import { type ActivePlan, patternOf } from '../resources/fault-plans/table.ts';
import type { Committed } from './batch-trail.ts';
import { type ClaimedDelivery, FaultCounter } from './fault-counter.ts';
import type { MatchResult } from './fault-statements.ts';

const now = Date.UTC(2026, 0, 1);
const nowText = '2026-01-01T00:00:00.000Z';

const plan = (id: string, orgId = formatId('organization', '1')): ActivePlan => ({
  ...{
    orgId,
    id: id as ActivePlan['id'],
    appId: `app of ${id}` as ActivePlan['appId'],
    fault: { type: 'reset_connection' },
    seed: 1,
    share: 50,
  },
  ...{ operations: null, methods: null, eventTypes: null },
});
const result = (
  id: string,
  isHit: boolean,
  isOver = false,
  orgId = formatId('organization', '1'),
): MatchResult => ({
  ...{ orgId, id, isHit, isOver },
});

/** A counter whose statements are answered one by one, and the applications that it reports as changed. */
function setUp() {
  const statements: { name: string; values: readonly unknown[] }[] = [];
  const answers: { resolve: (rows: readonly MatchResult[]) => void; reject: (error: Error) => void }[] = [];
  const query = ({ name }: { name: string }, values: readonly unknown[]) => {
    statements.push({ name, values });
    return new Promise((resolve, reject) => answers.push({ resolve, reject }));
  };
  const counter = new FaultCounter({ query } as unknown as Database, () => now);
  const changed: string[] = [];
  counter.watch((appId) => changed.push(appId));
  const settle = () => new Promise((resolve) => setImmediate(resolve));
  const answer = async (...rows: readonly MatchResult[]) => {
    const pending = answers.shift();
    if (!pending) throw new Error('no statement is waiting for its answer');
    pending.resolve(rows);
    await settle();
  };
  return { counter, statements, answers, answer, changed, settle };
}

type Count = readonly [plan: ActivePlan, n: number, requestId: string];

/** The statement parameters: plans, the number of matches of each, and the first request of each. */
const valuesOf = (...counts: readonly Count[]) => [
  encodeArray(
    'text',
    counts.map(([{ orgId }]) => orgId),
  ),
  encodeArray(
    'text',
    counts.map(([{ id }]) => id),
  ),
  encodeArray(
    'integer',
    counts.map(([, n]) => n),
  ),
  encodeArray(
    'bytea',
    counts.map(([counted]) => patternOf(counted)),
  ),
  encodeArray(
    'text',
    counts.map(([, , requestId]) => requestId),
  ),
  nowText,
];

describe('requests', () => {
  test('are hit or not as the database decides', async () => {
    const { counter, statements, answer, changed } = setUp();
    const hit = counter.take(plan('a'), formatId('request', '1'));
    await answer(result('a', true));
    expect(await hit).toBe(true);
    const missed = counter.take(plan('a'), formatId('request', '2'));
    await answer(result('a', false));
    expect(await missed).toBe(false);
    expect(statements[0]).toEqual({ name: 'fault_plans_take', values: valuesOf([plan('a'), 1, 'req_1']) });
    expect(changed).toEqual([]);
  });

  test('that arrive during a statement share the next one, plans in sorted order', async () => {
    const { counter, statements, answer } = setUp();
    const first = counter.take(plan('a'), formatId('request', '1'));
    const waiting = [
      ...[
        counter.take(plan('b'), formatId('request', '2')),
        counter.take(plan('a'), formatId('request', '3')),
      ],
      ...[
        counter.take(plan('b'), formatId('request', '4')),
        counter.take(plan('a', formatId('organization', '0')), formatId('request', '5')),
      ],
    ];
    await answer(result('a', false));
    expect(await first).toBe(false);
    expect(statements).toHaveLength(2);
    const counts: Count[] = [
      [plan('a', formatId('organization', '0')), 1, 'req_5'],
      [plan('a'), 1, 'req_3'],
      [plan('b'), 2, 'req_2'],
    ];
    expect(statements[1]?.values).toEqual(valuesOf(...counts));
    await answer(
      result('a', true, false, formatId('organization', '0')),
      result('a', false),
      result('b', false),
      result('b', true),
    );
    expect(await Promise.all(waiting)).toEqual([false, false, true, true]);
    expect(statements).toHaveLength(2);
  });

  test('beyond 500 for one plan wait for the next statement', async () => {
    const { counter, statements, answer } = setUp();
    const all = [counter.take(plan('a'), formatId('request', '0'))];
    for (let i = 1; i <= 501; i += 1) all.push(counter.take(plan('a'), formatId('request', String(i))));
    await answer(result('a', false));
    expect(statements[1]?.values).toEqual(valuesOf([plan('a'), 500, 'req_1']));
    await answer(...Array<MatchResult>(500).fill(result('a', false)));
    expect(statements[2]?.values).toEqual(valuesOf([plan('a'), 1, 'req_501']));
    await answer(result('a', true));
    expect((await Promise.all(all)).map((isHit) => isHit).lastIndexOf(true)).toBe(501);
  });

  test('are not hit by a plan that has ended, and the application is reported', async () => {
    const { counter, answer, changed } = setUp();
    const one = counter.take(plan('a'), formatId('request', '1'));
    await answer();
    expect([await one, changed]).toEqual([false, ['app of a']]);
    const last = counter.take(plan('b'), formatId('request', '2'));
    await answer(result('b', true, true));
    expect([await last, changed]).toEqual([true, ['app of a', 'app of b']]);
  });

  test('fail with the statement, and later ones do not', async () => {
    const { counter, answers, answer, settle } = setUp();
    const failing = expect(counter.take(plan('a'), formatId('request', '1'))).rejects.toThrow('gone');
    const next = counter.take(plan('a'), formatId('request', '2'));
    answers.shift()?.reject(new Error('gone'));
    await failing;
    await settle();
    await answer(result('a', true));
    expect(await next).toBe(true);
  });
});

describe('deliveries', () => {
  const claim = (id: string, token: number) =>
    ({ orgId: formatId('organization', '1'), id, token, requestId: `req of ${id}` }) as ClaimedDelivery;
  const deliveries = [
    { claim: claim(formatId('delivery', '1'), 1), dueAt: null },
    { claim: claim(formatId('delivery', '2'), 2), dueAt: now + 5 },
    { claim: claim(formatId('delivery', '3'), 3), dueAt: null },
  ];

  test('are hit by position, and those without a result are not', async () => {
    const { counter, answer, changed, statements } = setUp();
    const hit = counter.takeDeliveries(plan('a'), deliveries, now + 1_000);
    await answer(result('a', false), result('a', true));
    expect([...(await hit)]).toEqual(['dlv_2']);
    expect(changed).toEqual(['app of a']);
    expect(statements[0]?.values).toEqual([
      ...valuesOf([plan('a'), 3, 'req of dlv_1']),
      encodeArray('text', [formatId('delivery', '1'), formatId('delivery', '2'), 'dlv_3']),
      encodeArray('integer', [1, 2, 3]),
      encodeArray('timestamptz', [null, now + 5, null]),
      '2026-01-01T00:00:01.000Z',
    ]);
  });

  test('change nothing for the application while the plan is active', async () => {
    const { counter, answer, changed, statements } = setUp();
    const hit = counter.takeDeliveries(plan('a'), deliveries.slice(0, 1), null);
    await answer(result('a', true));
    expect([[...(await hit)], changed, statements[0]?.values.at(-1)]).toEqual([['dlv_1'], [], null]);
  });

  test('are held until a time', async () => {
    const { counter, answer, statements } = setUp();
    const held = counter.hold(claim(formatId('delivery', '1'), 7), now);
    await answer();
    await held;
    expect(statements).toEqual([
      {
        name: 'deliveries_hold',
        values: [formatId('organization', '1'), formatId('delivery', '1'), 7, nowText],
      },
    ]);
  });
});

test('a commit reports the applications whose plans it changed, to every watcher', () => {
  const { counter, changed } = setUp();
  const others: string[] = [];
  counter.watch((appId) => others.push(appId));
  const changes = [
    { resource: 'fault_plan', row: { appId: formatId('application', '1') } },
    { resource: 'payment', row: { appId: formatId('application', '2') } },
    { resource: 'fault_plan', row: {} },
  ];
  counter.onCommit({ changes } as unknown as Pick<Committed, 'changes'>);
  expect([changed, others]).toEqual([['app_1'], ['app_1']]);
});
