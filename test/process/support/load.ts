/** Clients that create payments and remember every response, and the checks afterwards: nothing lost, nothing created twice. */
import { expect } from 'vitest';
import { type Answer, createPayment, expectRefusal, listPayments, whileUnavailable } from './client.ts';

/** One payment that a client requests. Without an id no response arrived, and the outcome is unknown. */
export interface Claim {
  readonly key: string;
  readonly reference: string;
  id?: string;
  /** The body of the first successful response, byte by byte. */
  text?: string;
}

export interface Load {
  readonly claims: readonly Claim[];
  /** Responses other than 201. */
  readonly refused: readonly Answer[];
  /** How many requests got no response at all. */
  readonly lost: () => number;
  /** Resolves as soon as this many payments are acknowledged. */
  readonly acknowledged: (count: number) => Promise<void>;
  /** Every client finishes the request that it has in flight. */
  readonly stop: () => void;
  readonly ended: Promise<void>;
}

const CLIENTS = 16;

/** Each client sends one create after another, and ends at the first one that is not answered with 201. */
export function startLoad(url: string, name: string, clients = CLIENTS, send = createPayment): Load {
  const claims: Claim[] = [];
  const refused: Answer[] = [];
  const waiting: { readonly count: number; readonly resolve: () => void }[] = [];
  let isStopped = false;
  let acknowledged = 0;
  let lost = 0;

  const client = async (): Promise<void> => {
    while (!isStopped) {
      const claim: Claim = newClaim(`${name}-${claims.length}`);
      claims.push(claim);
      let answer: Answer;
      try {
        answer = await send(url, claim.key, claim.reference);
      } catch {
        lost += 1;
        return;
      }
      if (answer.status !== 201) {
        refused.push(answer);
        return;
      }
      acknowledge(claim, answer);
      acknowledged += 1;
      for (const { count, resolve } of waiting) if (acknowledged >= count) resolve();
    }
  };

  const ended = Promise.all(Array.from({ length: clients }, client)).then(() => undefined);
  return {
    claims,
    refused,
    lost: () => lost,
    acknowledged: (count) => {
      const reached = new Promise<void>((resolve) => {
        waiting.push({ count, resolve });
      });
      const early = ended.then(() => {
        if (acknowledged < count)
          throw new Error(`The load ended after ${acknowledged} of ${count} responses.`);
      });
      return Promise.race([reached, early]);
    },
    stop: () => {
      isStopped = true;
    },
    ended,
  };
}

function newClaim(name: string): Claim {
  return { key: `key-${name}`, reference: `ref-${name}` };
}

export function newClaims(name: string, count: number): readonly Claim[] {
  return Array.from({ length: count }, (_, i) => newClaim(`${name}-${i}`));
}

export interface Retried {
  /** Acknowledged before, and answered with the same bytes again. */
  readonly repeated: number;
  /** Not acknowledged before, but written. */
  readonly found: number;
  /** Not acknowledged before and not written; written now. */
  readonly created: number;
}

/** Sends every request again. An acknowledged one must be replayed byte by byte; the others must succeed now. */
export async function retry(url: string, claims: readonly Claim[], key?: string): Promise<Retried> {
  const counts = { repeated: 0, found: 0, created: 0 };
  await inParallel(claims, async (claim) => {
    const answer = await whileUnavailable(() => createPayment(url, claim.key, claim.reference, key));
    expect(answer.status, answer.text).toBe(201);
    expect(answer.body.reference).toBe(claim.reference);
    if (claim.id === undefined) {
      acknowledge(claim, answer);
      if (answer.isReplay) counts.found += 1;
      else counts.created += 1;
    } else {
      expect({ id: answer.body.id, isReplay: answer.isReplay }).toEqual({ id: claim.id, isReplay: true });
      if (claim.text !== undefined) expect(answer.text).toBe(claim.text);
      counts.repeated += 1;
    }
  });
  return counts;
}

function acknowledge(claim: Claim, { body, text }: Answer): void {
  claim.id = String(body.id);
  claim.text = text;
}

/** The list has every claim exactly once, with the id of its response, and nothing else. */
export async function expectListed(url: string, claims: readonly Claim[], key?: string): Promise<void> {
  const listed = await listPayments(url, key);
  const line = (id: string | undefined, reference: string | null): string => `${id} ${reference}`;
  expectSame(
    listed.map(({ id, reference }) => line(id, reference)),
    claims.map(({ id, reference }) => line(id, reference)),
  );
}

/** Equal as multisets. Reports only the first differences: there may be thousands. */
export function expectSame(found: readonly string[], expected: readonly string[]): void {
  const counts = new Map<string, number>();
  for (const line of found) counts.set(line, (counts.get(line) ?? 0) + 1);
  for (const line of expected) counts.set(line, (counts.get(line) ?? 0) - 1);
  const differences = [...counts].filter(([, count]) => count !== 0);
  expect({
    tooMany: differences.filter(([, count]) => count > 0).slice(0, 5),
    missing: differences.filter(([, count]) => count < 0).slice(0, 5),
  }).toEqual({ tooMany: [], missing: [] });
}

/** Every refusal is `service_unavailable`, in the envelope of the contract. */
export function expectOnlyUnavailable(answers: readonly Answer[]): void {
  for (const answer of answers) expectRefusal(answer, 'service_unavailable');
}

async function inParallel<Item>(items: readonly Item[], work: (item: Item) => Promise<void>): Promise<void> {
  const rest = items[Symbol.iterator]();
  await Promise.all(
    Array.from({ length: CLIENTS * 2 }, async () => {
      for (const item of rest) await work(item);
    }),
  );
}
