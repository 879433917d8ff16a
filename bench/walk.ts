/**
 * Walks a payment with manual capture through its lifecycle, and checks afterwards that the ledger contains exactly the
 * walks that the server confirmed.
 */
import { countPayments, readBalances } from './api.ts';
import { KeyedPost, type NextRequest, PAYMENT_BODY, PAYMENTS_PATH, type Request } from './requests.ts';

const WALK_BODY = { ...PAYMENT_BODY, captureMethod: 'manual' };
const SAMPLE_ID = 'pay_00000000000000000000000000';
const PAYMENT_ID = /"id":"(pay_[0-9a-z]{26})"/;

/** After the create: one request per transition, or one request for all of them. */
const WALK_STEPS = {
  'step by step': [
    { body: { action: 'authorize' }, arrives: 'authorized', transitions: 1 },
    { body: { action: 'capture' }, arrives: 'captured', transitions: 1 },
    { body: { action: 'settle' }, arrives: 'settled', transitions: 1 },
  ],
  'at once': [{ body: { to: 'settled' }, arrives: 'settled', transitions: 3 }],
} as const;

export type WalkKind = keyof typeof WALK_STEPS;

/** Walks on one server. Counts the finished ones. */
export class Walks {
  readonly url: string;
  #finished = 0;

  /** The server must serve nothing else, because all its settled payments are counted as walks. */
  constructor(url: string) {
    this.url = url;
  }

  /** Repeats: create a payment and advance it until it is settled. Every response must show the requested state. */
  requests(apiKey: string, connection: number, kind: WalkKind): NextRequest {
    const transitions = WALK_STEPS[kind].map(({ body, arrives, transitions }) => {
      const post = new KeyedPost(apiKey, connection, `${PAYMENTS_PATH}/${SAMPLE_ID}/advance`, body);
      const answered = (answer: string): void => {
        expectState(answer, arrives);
        if (arrives === 'settled') this.#finished += 1;
      };
      const request: Request = { bytes: post.bytes, expectedStatus: 200, transitions, answered };
      return { post, idAt: post.bytes.indexOf(SAMPLE_ID), request };
    });

    const create = new KeyedPost(apiKey, connection, PAYMENTS_PATH, WALK_BODY);
    const created = (answer: string): void => {
      expectState(answer, 'pending');
      const id = PAYMENT_ID.exec(answer)?.[1];
      if (id === undefined) throw new Error(`A created payment has no id: ${answer}`);
      for (const { post, idAt } of transitions) post.bytes.write(id, idAt, 'latin1');
    };
    const creation = {
      post: create,
      request: { bytes: create.bytes, expectedStatus: 201, transitions: 1, answered: created },
    };

    const steps = [creation, ...transitions];
    let at = -1;
    return () => {
      at = at + 1 === steps.length ? 0 : at + 1;
      const step = steps[at];
      step?.post.renewKey();
      return step?.request;
    };
  }

  /** Throws unless the ledger matches the responses. */
  async check(): Promise<string> {
    const { accounts, trialBalance } = await readBalances(this.url);
    const walked = this.#finished.toLocaleString('en-US');
    if (trialBalance.length === 0 || trialBalance.some(({ amount }) => Number(amount) !== 0))
      throw new Error(`After ${walked} walks the trial balance is ${JSON.stringify(trialBalance)}.`);
    const bank = accounts.find(({ account }) => account === 'bank');
    if (Number(bank?.balance) !== this.#finished * WALK_BODY.amount)
      throw new Error(`After ${walked} walks of ${WALK_BODY.amount} the bank is ${JSON.stringify(bank)}.`);
    const settled = await countPayments(this.url, 'settled');
    if (settled !== this.#finished)
      throw new Error(`After ${walked} walks ${settled.toLocaleString('en-US')} payments are settled.`);
    return `${walked} walks, the same number of settled payments, trial balance zero`;
  }
}

function expectState(answer: string, state: string): void {
  if (!answer.includes(`"status":"${state}"`))
    throw new Error(`Expected a payment in state ${state}, got ${answer}`);
}
