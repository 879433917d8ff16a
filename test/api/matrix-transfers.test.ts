import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { transferMachine } from '../../src/resources/transfers/machine.ts';
import type { Server } from '../../src/server.ts';
import { verify } from '../../src/verify.ts';
import type { Answer, ApiClient, Body } from '../support/api-client.ts';
import { decidedOn, openServer } from '../support/server.ts';
import { tenant } from '../support/tenant.ts';
import { done } from './lifecycle.ts';
import { added, lasting, payments, type Trail, together, toldBetween, trailsOf } from './trails.ts';
import {
  along,
  amounts,
  expectedOutcomes,
  expectTransferMove,
  expectTransferNext,
  expectTransferWay,
  openTransferActions,
  type TransferFacts,
  type TransferParams,
  type TransferPosted,
  transferStates,
  transferTable,
} from './transfer-model.ts';

const transfers = 'developer_api_transfers';
const beneficiary = { name: 'Grace Hopper' };
const fx = { marginBasisPoints: 0, rates: { 'EUR/USD': '1.25' } };

/** A transfer that went through these actions. Funded from the balance it is with the other provider. */
interface Situation {
  readonly name: string;
  readonly create: Readonly<Record<string, unknown>>;
  readonly steps: readonly string[];
  readonly provider: 'tidewater' | 'meridian';
  readonly facts: TransferFacts;
  readonly asks: readonly Ask[];
}

type Ask = TransferParams & { readonly action?: string; readonly to?: string };

const asks: readonly Ask[] = [
  {},
  ...Object.keys(transferTable).map((action) => ({ action })),
  { action: 'accept', beneficiary: { name: 'Ada' } },
  { action: 'return', returnCode: 'AC04' },
  { action: 'fail', failureCode: 'funding_failed' },
  ...transferStates.map((to) => ({ to })),
  { to: 'accepted', beneficiary: { name: 'Ada' } },
  { to: 'completed', beneficiary: { name: 'Ada' } },
  { to: 'returned', returnCode: 'AC04' },
  { to: 'refunded', returnCode: 'AC04' },
  { to: 'failed', failureCode: 'provider_error' },
];

/** What a scenario has a say in. */
const played: readonly Ask[] = [
  {},
  ...['complete', 'return', 'reject', 'fail'].map((action) => ({ action })),
  ...['completed', 'refunded', 'failed'].map((to) => ({ to })),
];

const toFunded = ['accept', 'fund'];
const toSent = [...toFunded, 'convert', 'send'];

function situation(steps: readonly string[], more: Readonly<Record<string, unknown>> = {}): Situation {
  const create = { beneficiary, ...more };
  const start: TransferFacts = {
    status: 'quoted',
    fundFrom: more.fundFrom === 'balance' ? 'balance' : 'external',
    hasBeneficiary: create.beneficiary !== undefined,
    scenario: (more.scenario ?? 'approve') as TransferFacts['scenario'],
    sends: 0,
    failureCode: null,
    returnCode: null,
    reconciliation: null,
    instants: [],
  };
  const reached = along(start, steps);
  if ('code' in reached) throw new Error(`${steps.join(', ')} leads nowhere`);
  const words = [more.fundFrom, more.scenario, create.beneficiary === undefined ? 'nobody' : undefined];
  return {
    name: [...words.flat().filter((word) => word !== undefined), steps.at(-1) ?? 'quote'].join(' '),
    create,
    steps,
    provider: more.fundFrom === 'balance' ? 'meridian' : 'tidewater',
    facts: reached.facts,
    asks: more.scenario === undefined ? asks : played,
  };
}

const ways: readonly (readonly string[])[] = [
  [],
  ['requote'],
  ['accept'],
  toFunded,
  [...toFunded, 'review'],
  [...toFunded, 'review', 'release'],
  [...toFunded, 'convert'],
  toSent,
  [...toSent, 'complete'],
  [...toSent, 'return'],
  [...toSent, 'complete', 'return'],
  [...toSent, 'return', 'resend'],
  [...toSent, 'complete', 'return', 'resend', 'complete'],
  [...toSent, 'return', 'refund'],
  ['cancel'],
  [...toFunded, 'cancel'],
  ['expire'],
  ['accept', 'expire'],
  ['accept', 'fail'],
  [...toFunded, 'review', 'reject'],
  [...toFunded, 'convert', 'fail'],
];

const endOf = (steps: readonly string[]) => situation(steps).facts.status;

const situations: readonly Situation[] = [
  ...ways.map((steps) => situation(steps)),
  ...ways
    .filter((steps, i) => ways.findIndex((other) => endOf(other) === endOf(steps)) === i)
    .map((steps) => situation(steps, { fundFrom: 'balance' })),
  situation([], { beneficiary: undefined }),
  situation(['expire'], { beneficiary: undefined }),
  ...['review', 'reject', 'fail:R99', 'return:R03', 'settle_short'].flatMap((scenario) =>
    [toFunded, [...toFunded, 'review'], [...toFunded, 'review', 'release'], toSent.slice(0, -1), toSent].map(
      (steps) => situation(steps, { scenario }),
    ),
  ),
  ...['settle_missing', 'settle_duplicate', 'settle_unknown'].map((scenario) =>
    situation(toSent, { scenario }),
  ),
  situation([...toSent, 'return'], { scenario: ['return:R01', 'return:R02'] }),
  situation([...toSent, 'return', 'resend'], { scenario: ['return:R01', 'return:R02'] }),
  situation([...toSent, 'return', 'resend'], { scenario: ['return:R01', 'approve'] }),
].map((one, i) => ({ ...one, name: `${i + 1}. ${one.name}, ${one.facts.status}` }));

const cells = situations.flatMap((one) =>
  one.asks.map((ask) => ({ situation: one, ask, name: `${one.name}: ${JSON.stringify(ask)}` })),
);
const named = cells.map((cell) => [cell.name, cell] as const);

interface Look {
  readonly body: Body;
  readonly trail: Trail;
}

interface Result {
  readonly before: Look;
  readonly answer: Answer;
  readonly after: Look;
}

describe('the matrix of transfers is complete:', () => {
  test('it knows every state and every action that can be asked for', () => {
    expect([...transferMachine.states].sort()).toEqual(transferStates.toSorted());
    const nameable = transferMachine.moves.filter(({ from }) => from.length > 0);
    expect(new Set(nameable.map(({ action }) => action))).toEqual(new Set(Object.keys(transferTable)));
  });

  test('it opens each action from the states that the machine names, leading where it says', () => {
    const ofMachine = transferMachine.moves.flatMap(({ action, from, to }) =>
      from.flatMap((state) => to.map((end) => `${state} ${action} ${end}`)),
    );
    const ofTable = Object.entries(transferTable).flatMap(([action, moves]) =>
      Object.entries(moves).map(([state, end]) => `${state} ${action} ${end}`),
    );
    expect(ofTable.sort()).toEqual(ofMachine.sort());
  });

  test('it reaches every state, with both ways to fund', () => {
    for (const fundFrom of ['external', 'balance']) {
      const reached = situations.filter(({ facts }) => facts.fundFrom === fundFrom);
      expect(new Set(reached.map(({ facts }) => facts.status))).toEqual(new Set(transferStates));
    }
  });
});

describe.each(decidedOn('postgres'))('transfers on %s,', (kind) => {
  let server: Server;
  let results: ReadonlyMap<string, Result>;

  beforeAll(async () => {
    server = await openServer(kind);
    const bank = await tenant(server, { fx });
    const modern = await bank.addKey({ application: 'modern', provider: 'meridian', fx });
    const clientOf = ({ provider }: Situation): ApiClient => (provider === 'meridian' ? modern : bank).client;
    const { id } = done(await bank.client.post(payments, { amount: 999_999_999_999, currency: 'EUR' }));
    done(await bank.client.post(`${payments}/${id}/advance`, { to: 'settled' }));
    const read = async (ids: readonly string[]): Promise<Look[]> => {
      const bodies = await together(ids, async (one) => (await bank.client.get(`${transfers}/${one}`)).body);
      const trails = await trailsOf(server, bank.orgId);
      return bodies.map((body) => ({ body, trail: trails.get(body.id) as Trail }));
    };
    const ids = await together(cells, ({ situation: one }) => reach(clientOf(one), one));
    const before = await read(ids);
    const answers = await together(
      cells.map((cell, i) => ({ cell, id: ids[i] })),
      ({ cell: { situation: one, ask }, id: made }) =>
        clientOf(one).post(`${transfers}/${made}/advance`, ask),
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

  test.each(named)('%s', (_name, { name, situation: { facts, provider }, ask }) => {
    const result = results.get(name);
    if (!result) throw new Error('the cell was not run');
    const { before, answer, after } = result;
    const { action, to, ...params } = ask;
    expectTransferFacts(before.body, facts);
    const expected =
      action !== undefined
        ? expectTransferMove(facts, action, params)
        : to !== undefined
          ? expectTransferWay(facts, to, params)
          : expectTransferNext(facts);
    if ('code' in expected) {
      expect(answer.code, answer.text).toBe(expected.code);
      if (expected.code === 'invalid_state_transition') {
        const asked = action === undefined ? (to === undefined ? {} : { to }) : { action };
        expect(answer.body.error.details).toEqual({ status: facts.status, ...asked });
        expect(answer.body.error.allowedActions).toEqual(openTransferActions(facts));
      }
      expect(lasting(after.body)).toEqual(lasting(before.body));
      expect(after.trail).toEqual(before.trail);
      return;
    }
    expect(answer.status, answer.text).toBe(200);
    expect(lasting(answer.body)).toEqual(lasting(after.body));
    expectTransferFacts(after.body, expected.facts);
    expect(after.body.version).toBe(Number(before.body.version) + expected.told.length);
    expect(toldBetween(before.trail, after.trail)).toEqual(expected.told);
    expect(postedBetween(before.trail, after.trail)).toEqual(expected.entries);
    const said = added(before.trail.providerEvents, after.trail.providerEvents, (event) => event.id);
    expect(said.map(({ outcome }) => outcome)).toEqual(expectedOutcomes(expected.told, provider));
    for (const event of said)
      expect(event).toMatchObject({ provider, transferId: after.body.id, paymentId: null });
    for (const field of ['id', 'scenario', 'fundFrom', 'metadata', 'createdAt'])
      expect(after.body[field], field).toEqual(before.body[field]);
  });

  test('and all of them together leave books that are sound', async () => {
    const { checks, isSound } = await verify(server.database);
    expect(checks.filter(({ differences }) => differences.length > 0)).toEqual([]);
    expect(isSound).toBe(true);
  });
});

async function reach(client: ApiClient, { create, steps }: Situation): Promise<string> {
  const asked = { sourceCurrency: 'EUR', targetCurrency: 'USD', sourceAmount: amounts.source, ...create };
  const { id } = done(await client.post(transfers, asked));
  for (const action of steps) done(await client.post(`${transfers}/${id}/advance`, { action }));
  return id;
}

function expectTransferFacts(body: Body, facts: TransferFacts): void {
  expect(body).toMatchObject({
    object: 'transfer',
    status: facts.status,
    sourceAmount: amounts.source,
    targetAmount: amounts.target,
    feeAmount: amounts.fee,
    totalAmount: amounts.total,
    rate: '1.25',
    inverseRate: '0.8',
    midMarketRate: '1.25',
    fundFrom: facts.fundFrom,
    returnCode: facts.returnCode,
    reconciliation: facts.reconciliation,
    allowedActions: openTransferActions(facts),
  });
  expect((body.failure as { code: string } | null)?.code ?? null).toBe(facts.failureCode);
  expect(body.beneficiary !== null).toBe(facts.hasBeneficiary);
  const moments = Object.keys(body).filter((name) => /^(?!created|updated|expires).+At$/.test(name));
  expect(moments.sort()).toEqual(facts.instants);
}

function postedBetween(before: Trail, after: Trail): TransferPosted[] {
  return added(before.entries, after.entries, ({ id }) => id).map(({ reason, postings }) => {
    const names = postings.map(({ account, currency }) => `${account} ${currency}`);
    expect(new Set(names).size).toBe(names.length);
    return { reason, postings: Object.fromEntries(postings.map(({ amount }, i) => [names[i], amount])) };
  });
}
