/**
 * The life of a payment as a merchant with manual capture drives it, and the proof afterwards that the books hold
 * exactly the walks that were answered.
 */
import { countPayments, readBalances } from './api.ts';
import { KeyedPost, type NextRequest, PAYMENT_BODY, PAYMENTS_PATH, type Request } from './requests.ts';

const WALK_BODY = { ...PAYMENT_BODY, captureMethod: 'manual' };
const SAMPLE_ID = 'pay_00000000000000000000000000';
const PAYMENT_ID = /"id":"(pay_[0-9a-z]{26})"/;

/** After the create: a request for each move, or one request for all of them. */
const WAYS = {
  'step by step': [
    { body: { action: 'authorize' }, arrives: 'authorized', moves: 1 },
    { body: { action: 'capture' }, arrives: 'captured', moves: 1 },
    { body: { action: 'settle' }, arrives: 'settled', moves: 1 },
  ],
  'at once': [{ body: { to: 'settled' }, arrives: 'settled', moves: 3 }],
} as const;

export type Way = keyof typeof WAYS;

/** Walks through one server, counted when they are finished. */
export class Walks {
  readonly url: string;
  #finished = 0;

  /** A server that serves nothing else: what is settled there was settled by these walks. */
  constructor(url: string) {
    this.url = url;
  }

  /** Create a payment, move it until it is settled, begin anew. Every answer must show the state that was asked for. */
  requests(apiKey: string, connection: number, way: Way): NextRequest {
    const moves = WAYS[way].map(({ body, arrives, moves }) => {
      const post = new KeyedPost(apiKey, connection, `${PAYMENTS_PATH}/${SAMPLE_ID}/advance`, body);
      const answered = (answer: string): void => {
        expectState(answer, arrives);
        if (arrives === 'settled') this.#finished += 1;
      };
      const request: Request = { bytes: post.bytes, expectedStatus: 200, moves, answered };
      return { post, idAt: post.bytes.indexOf(SAMPLE_ID), request };
    });

    const create = new KeyedPost(apiKey, connection, PAYMENTS_PATH, WALK_BODY);
    const created = (answer: string): void => {
      expectState(answer, 'pending');
      const id = PAYMENT_ID.exec(answer)?.[1];
      if (id === undefined) throw new Error(`A created payment has no id: ${answer}`);
      for (const { post, idAt } of moves) post.bytes.write(id, idAt, 'latin1');
    };
    const creation = {
      post: create,
      request: { bytes: create.bytes, expectedStatus: 201, moves: 1, answered: created },
    };

    const steps = [creation, ...moves];
    let at = -1;
    return () => {
      at = at + 1 === steps.length ? 0 : at + 1;
      const step = steps[at];
      step?.post.renewKey();
      return step?.request;
    };
  }

  /** Throws unless the server's books agree with its answers. */
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
    return `${walked} walks, as many settled payments, trial balance zero`;
  }
}

function expectState(answer: string, state: string): void {
  if (!answer.includes(`"status":"${state}"`))
    throw new Error(`Expected a payment that is ${state}, got ${answer}`);
}
