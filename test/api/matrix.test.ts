import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { paymentMachine } from '../../src/resources/payments/machine.ts';
import type { Server } from '../../src/server.ts';
import type { Answer, Body } from '../support/api-client.ts';
import { decidedOn, openServer } from '../support/server.ts';
import { tenant } from '../support/tenant.ts';
import { expectMove, openActions, type Params, paymentStates, paymentTable } from './payment-model.ts';
import { type Situation, situations } from './situations.ts';
import {
  added,
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

/** What is asked in every situation: each action by itself, and those that take something also with it. */
interface Ask {
  readonly name: string;
  readonly action: string;
  readonly path: 'advance' | 'refund';
  readonly params: Params;
}

const asks: readonly Ask[] = [
  ...Object.keys(paymentTable).map((action) => ({
    name: action,
    action,
    path: 'advance' as const,
    params: {},
  })),
  { name: 'capture of a part', action: 'capture', path: 'advance', params: { amount: 1_000 } },
  {
    name: 'capture of a part, final',
    action: 'capture',
    path: 'advance',
    params: { amount: 1_000, final: true },
  },
  { name: 'fail by a hard code', action: 'fail', path: 'advance', params: { failureCode: 'expired_card' } },
  { name: 'refund of a part', action: 'refund', path: 'advance', params: { amount: 1_000 } },
  { name: 'refund by its own endpoint', action: 'refund', path: 'refund', params: {} },
  {
    name: 'refund of a part by its own endpoint',
    action: 'refund',
    path: 'refund',
    params: { amount: 1_000 },
  },
  { name: 'dispute of a part', action: 'dispute', path: 'advance', params: { amount: 1_000 } },
];

interface Cell {
  readonly situation: Situation;
  readonly ask: Ask;
  readonly name: string;
}

const cells: readonly Cell[] = situations.flatMap((situation) =>
  asks.map((ask) => ({ situation, ask, name: `${situation.name}: ${ask.name}` })),
);

interface Look {
  readonly body: Body;
  readonly trail: Trail;
}

const named = cells.map((cell) => [cell.name, cell] as const);

interface Result {
  readonly before: Look;
  readonly answer: Answer;
  readonly after: Look;
}

describe('the matrix of payments is complete:', () => {
  test('it knows every state and every action that can be asked for', () => {
    expect([...paymentMachine.states].sort()).toEqual(paymentStates.toSorted());
    const nameable = paymentMachine.moves.filter(({ by, from }) => by === undefined && from.length > 0);
    expect(new Set(nameable.map(({ action }) => action))).toEqual(new Set(Object.keys(paymentTable)));
  });

  test('it opens each action from the states that the machine names, and from no other', () => {
    const ofMachine = paymentMachine.moves
      .filter(({ by }) => by === undefined)
      .flatMap(({ action, from }) => from.map((state) => `${state} ${action}`));
    const ofTable = Object.entries(paymentTable).flatMap(([action, ways]) =>
      Object.keys(ways).map((state) => `${state} ${action}`),
    );
    expect(ofTable.sort()).toEqual([...new Set(ofMachine)].sort());
  });

  test('every state is reached with both ways to capture, and every condition both met and not', () => {
    for (const captureMethod of ['automatic', 'manual']) {
      const reached = situations.filter(({ facts }) => facts.captureMethod === captureMethod);
      expect(new Set(reached.map(({ facts }) => facts.status))).toEqual(new Set(paymentStates));
    }
    for (const { action, from, when } of paymentMachine.moves) {
      if (when === undefined) continue;
      const here = situations.filter(({ facts }) => from.includes(facts.status));
      const open = here.filter(({ facts }) => openActions(facts).includes(action));
      expect(open.length, `${action} is open somewhere`).toBeGreaterThan(0);
      expect(open.length, `${action} is closed somewhere`).toBeLessThan(here.length);
    }
  });
});

describe.each(decidedOn('postgres'))('payments on %s,', (kind) => {
  let server: Server;
  let results: ReadonlyMap<string, Result>;

  beforeAll(async () => {
    server = await openServer(kind);
    const { client, orgId } = await tenant(server);
    const read = async (ids: readonly string[]): Promise<Look[]> => {
      const bodies = await together(ids, async (id) => (await client.get(`${payments}/${id}`)).body);
      const trails = await trailsOf(server, orgId);
      return bodies.map((body) => ({ body, trail: trails.get(body.id) as Trail }));
    };
    const reached = await together(cells, ({ situation }) => reach(client, situation));
    const ids = reached.map(({ paymentId }) => paymentId);
    const before = await read(ids);
    const answers = await together(
      cells.map((cell, i) => ({ cell, id: ids[i] })),
      ({ cell: { ask }, id }) =>
        client.post(
          `${payments}/${id}/${ask.path}`,
          ask.path === 'advance' ? { action: ask.action, ...ask.params } : ask.params,
        ),
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

  test.each(named)('%s', (_name, { name, situation: { facts }, ask }) => {
    const result = results.get(name);
    if (!result) throw new Error('the cell was not run');
    const { before, answer, after } = result;
    expectFacts(before.body, facts);
    expect(before.body.allowedActions).toEqual(openActions(facts));
    const expected = expectMove(facts, ask.action, ask.params);
    if ('code' in expected) {
      expect(answer.code, answer.text).toBe(expected.code);
      if (expected.code === 'invalid_state_transition') {
        expect(answer.status).toBe(409);
        expect(answer.body.error.details).toEqual({
          status: facts.status,
          action: ask.action,
          // Where to go: nothing but its dispute moves such a payment.
          ...(facts.status === 'disputed' ? { disputeId: before.body.disputeId } : {}),
        });
        expect(answer.body.error.allowedActions).toEqual(openActions(facts));
      } else {
        expect(answer.status).toBe(422);
      }
      expect(lasting(after.body)).toEqual(lasting(before.body));
      expect(after.trail).toEqual(before.trail);
      return;
    }
    expect(answer.status, answer.text).toBe(ask.path === 'refund' ? 201 : 200);
    if (ask.path === 'advance') expect(lasting(answer.body)).toEqual(lasting(after.body));
    expectFacts(after.body, expected.facts);
    expect(after.body.allowedActions).toEqual(openActions(expected.facts));
    expect(after.body.version).toBe(Number(before.body.version) + 1);
    expect(toldBetween(before.trail, after.trail)).toEqual(expected.told);
    expect(postedBetween(before.trail, after.trail)).toEqual(expected.entries);
    expectUntouched(before.body, after.body);
    expectProvider(result, facts.captureMethod, expected.told.at(-1)?.action ?? '');
  });
});

/** What no move of a payment may change. */
function expectUntouched(before: Body, after: Body): void {
  // Moments come and go with what happens; every other field is always there.
  const lasting = (body: Body) => Object.keys(body).filter((name) => !/^(?!created|updated).+At$/.test(name));
  expect(lasting(after)).toEqual(lasting(before));
  for (const field of ['id', 'amount', 'currency', 'paymentMethod', 'customerId', 'metadata', 'scenario']) {
    expect(after[field], field).toEqual(before[field]);
  }
  expect(after.createdAt).toBe(before.createdAt);
}

/** Each move is applied once. The second provider repeats itself at a capture, and is late at a settlement. */
function expectProvider({ before, after }: Result, captureMethod: string, action: string): void {
  const events = added(before.trail.providerEvents, after.trail.providerEvents, ({ id }) => id);
  const outcomes = events.map(({ outcome }) => outcome);
  if (action === 'retry') expect(outcomes).toEqual([]);
  else if (captureMethod === 'manual' && action === 'settle')
    expect(outcomes).toEqual(['ignored', 'applied']);
  else if (captureMethod === 'manual' && action === 'capture' && before.body.status === 'authorized')
    expect(outcomes).toEqual(['duplicate', 'applied']);
  else expect(outcomes).toEqual(['applied']);
  for (const event of events) {
    expect(event).toMatchObject({ provider: captureMethod === 'manual' ? 'tidewater' : 'meridian', action });
  }
}
