import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { paymentMachine } from '../../src/resources/payments/machine.ts';
import type { Server } from '../../src/server.ts';
import type { Answer, Body } from '../support/api-client.ts';
import { decidedOn, openServer } from '../support/server.ts';
import { tenant } from '../support/tenant.ts';
import { openActions, paymentStates } from './payment-model.ts';
import { expectNext, expectWay } from './payment-ways.ts';
import { type Situation, situations } from './situations.ts';
import {
  expectFacts,
  lasting,
  payments,
  postedBetween,
  reach,
  type Trail,
  together,
  toldBetween,
  trailsOf,
} from './trails.ts';

type Ask = Readonly<{ to?: string; amount?: number; failureCode?: string }>;

/** The next step, every state, and the states that take something with what they take: right, and too much. */
const asks: readonly Ask[] = [
  {},
  ...paymentStates.map((to) => ({ to })),
  ...['partially_captured', 'partially_refunded', 'disputed'].flatMap((to) => [
    { to, amount: 1_000 },
    { to, amount: 20_000 },
  ]),
  { to: 'failed', failureCode: 'stolen_card' },
];

interface Cell {
  readonly name: string;
  readonly situation: Situation;
  readonly ask: Ask;
}

const cells: readonly Cell[] = situations.flatMap((situation) =>
  asks.map((ask) => ({
    situation,
    ask,
    name: `${situation.name}: ${ask.to === undefined ? 'the next step' : `to ${Object.values(ask).join(' ')}`}`,
  })),
);

const named = cells.map((cell) => [cell.name, cell] as const);

interface Result {
  readonly before: { readonly body: Body; readonly trail: Trail };
  readonly answer: Answer;
  readonly after: { readonly body: Body; readonly trail: Trail };
}

test('every state of the machine is asked for, from every situation', () => {
  expect(new Set(asks.flatMap(({ to }) => to ?? []))).toEqual(new Set(paymentMachine.states));
});

describe.each(decidedOn('postgres'))('ways of payments on %s,', (kind) => {
  let server: Server;
  let results: ReadonlyMap<string, Result>;

  beforeAll(async () => {
    server = await openServer(kind);
    const { client, orgId } = await tenant(server);
    const read = async (ids: readonly string[]) => {
      const bodies = await together(ids, async (id) => (await client.get(`${payments}/${id}`)).body);
      const trails = await trailsOf(server, orgId);
      return bodies.map((body) => ({ body, trail: trails.get(body.id) }));
    };
    const reached = await together(cells, ({ situation }) => reach(client, situation));
    const ids = reached.map(({ paymentId }) => paymentId);
    const before = await read(ids);
    const answers = await together(
      cells.map(({ ask }, i) => ({ ask, id: ids[i] })),
      ({ ask, id }) => client.post(`${payments}/${id}/advance`, ask),
    );
    const after = await read(ids);
    results = new Map(
      cells.map(({ name }, i) => [
        name,
        { before: before[i], answer: answers[i], after: after[i] } as Result,
      ]),
    );
  });
  afterAll(() => server?.close());

  test.each(named)('%s', (_name, { name, situation: { facts }, ask: { to, ...params } }) => {
    const result = results.get(name);
    if (!result) throw new Error('the cell was not run');
    const { before, answer, after } = result;
    const expected = to === undefined ? expectNext(facts) : expectWay(facts, to, params);
    if ('code' in expected) {
      expect(answer.code, answer.text).toBe(expected.code);
      if (expected.code === 'invalid_state_transition') {
        expect(answer.body.error.details).toMatchObject({ status: facts.status });
        expect(answer.body.error.allowedActions).toEqual(openActions(facts));
        expect(before.body.allowedActions).toEqual(openActions(facts));
      }
      expect(lasting(after.body)).toEqual(lasting(before.body));
      expect(after.trail).toEqual(before.trail);
      return;
    }
    expect(answer.status, answer.text).toBe(200);
    expect(lasting(answer.body)).toEqual(lasting(after.body));
    expectFacts(after.body, expected.facts);
    expect(toldBetween(before.trail, after.trail)).toEqual(expected.told);
    expect(postedBetween(before.trail, after.trail)).toEqual(expected.entries);
    const moves = expected.told.filter(({ resource }) => resource === 'payment');
    expect(after.body.version).toBe(Number(before.body.version) + moves.length);
  });
});
