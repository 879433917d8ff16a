import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { disputeMachine } from '../../src/resources/disputes/machine.ts';
import { refundMachine } from '../../src/resources/refunds/machine.ts';
import type { Server } from '../../src/server.ts';
import type { Answer, Body } from '../support/api-client.ts';
import { decidedOn, openServer } from '../support/server.ts';
import { tenant } from '../support/tenant.ts';
import {
  expectPartMove,
  expectPartWay,
  openPartActions,
  type PartKind,
  partStates,
  partTables,
} from './part-model.ts';
import { disputeSituations, type PartSituation, refundSituations } from './part-situations.ts';
import {
  added,
  disputes,
  expectFacts,
  lasting,
  payments,
  postedBetween,
  reach,
  refunds,
  type Trail,
  together,
  toldBetween,
  trailsOf,
} from './trails.ts';

type Ask = Readonly<{ action?: string; to?: string }>;

interface Cell {
  readonly name: string;
  readonly kind: PartKind;
  readonly situation: PartSituation;
  readonly ask: Ask;
}

const machines = { refund: refundMachine, dispute: disputeMachine } as const;
const paths = { refund: refunds, dispute: disputes } as const;

const cellsOf = (kind: PartKind, situations: readonly PartSituation[]): readonly Cell[] =>
  situations.flatMap((situation) =>
    [
      {},
      ...Object.keys(partTables[kind]).map((action) => ({ action })),
      ...partStates[kind].map((to) => ({ to })),
    ].map((ask: Ask) => ({
      kind,
      situation,
      ask,
      name: `a ${kind} ${situation.name}: ${ask.action ?? (ask.to === undefined ? 'the next step' : `to ${ask.to}`)}`,
    })),
  );

const cells = [...cellsOf('refund', refundSituations), ...cellsOf('dispute', disputeSituations)];
const named = cells.map((cell) => [cell.name, cell] as const);

interface Look {
  readonly payment: Body;
  readonly part: Body;
  readonly trail: Trail;
}

interface Result {
  readonly before: Look;
  readonly answer: Answer;
  readonly after: Look;
}

describe.each([
  ['refund', refundSituations],
  ['dispute', disputeSituations],
] as const)('the matrix of each %s is complete:', (kind, situations) => {
  test('it knows every state, and every action from the states that the machine names', () => {
    const { states, moves } = machines[kind];
    expect([...states]).toEqual(partStates[kind]);
    const ofMachine = moves.flatMap(({ action, from, to }) => from.map((state) => [action, state, ...to]));
    const ofTable = Object.entries(partTables[kind]).flatMap(([action, ways]) =>
      Object.entries(ways).map(([from, to]) => [action, from, to]),
    );
    expect(ofTable).toEqual(ofMachine);
    expect(new Set(situations.map(({ status }) => status))).toEqual(new Set(states));
  });
});

describe.each(decidedOn('postgres'))('on %s,', (databaseKind) => {
  let server: Server;
  let results: ReadonlyMap<string, Result>;

  beforeAll(async () => {
    server = await openServer(databaseKind);
    const { client, orgId } = await tenant(server);
    const made = await together(cells, async ({ kind, situation }) => {
      const { paymentId, refundId, disputeId } = await reach(client, situation);
      return {
        payment: `${payments}/${paymentId}`,
        part: `${paths[kind]}/${kind === 'refund' ? refundId : disputeId}`,
      };
    });
    const read = async (): Promise<Look[]> => {
      const bodies = await together(made, async ({ payment, part }) => ({
        payment: (await client.get(payment)).body,
        part: (await client.get(part)).body,
      }));
      const trails = await trailsOf(server, orgId);
      return bodies.map((look) => ({ ...look, trail: trails.get(look.payment.id) as Trail }));
    };
    const before = await read();
    const answers = await together(
      cells.map(({ ask }, i) => ({ ask, path: made[i]?.part })),
      ({ ask, path }) => client.post(`${path}/advance`, ask),
    );
    const after = await read();
    results = new Map(
      cells.map(({ name }, i) => [
        name,
        { before: before[i], answer: answers[i], after: after[i] } as Result,
      ]),
    );
  });
  afterAll(() => server?.close());

  test.each(named)('%s', (_name, { name, kind, situation, ask }) => {
    const result = results.get(name);
    if (!result) throw new Error('the cell was not run');
    const { before, answer, after } = result;
    expectFacts(before.payment, situation.payment);
    expect(before.part).toMatchObject({
      status: situation.status,
      amount: situation.amount,
      allowedActions: openPartActions(kind, situation),
    });
    const expected =
      ask.action === undefined
        ? expectPartWay(kind, situation, ask.to)
        : expectPartMove(kind, situation, ask.action);
    if ('code' in expected) {
      expect(answer.code, answer.text).toBe(expected.code);
      expect(answer.body.error.details).toEqual({ status: situation.status, ...ask });
      expect(answer.body.error.allowedActions).toEqual(before.part.allowedActions);
      expect([lasting(after.payment), lasting(after.part)]).toEqual([
        lasting(before.payment),
        lasting(before.part),
      ]);
      expect(after.trail).toEqual(before.trail);
      return;
    }
    expect(answer.status, answer.text).toBe(200);
    expect(lasting(answer.body)).toEqual(lasting(after.part));
    expect(after.part.status).toBe(expected.status);
    expectFacts(after.payment, expected.facts);
    expect(toldBetween(before.trail, after.trail)).toEqual(expected.told);
    expect(postedBetween(before.trail, after.trail)).toEqual(expected.entries);
    const movesOf = (resource: string) => expected.told.filter((told) => told.resource === resource).length;
    expect(after.part.version).toBe(Number(before.part.version) + movesOf(kind));
    expect(after.payment.version).toBe(Number(before.payment.version) + movesOf('payment'));
    // The provider has a part in every move of a dispute, and in the end of a refund; each is applied once.
    const events = added(before.trail.providerEvents, after.trail.providerEvents, ({ id }) => id);
    const outcomes = events.map(({ outcome }) => outcome);
    expect(outcomes).toEqual(Array.from({ length: movesOf(kind) }, () => 'applied'));
  });
});
