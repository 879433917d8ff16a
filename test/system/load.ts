/** Clients under load that remember what they were told, and the reckoning afterwards: nothing lost, nothing twice. */
import { expect } from 'vitest';
import { type Answer, createPayment, expectRefusal, listPayments } from './client.ts';

/** One payment that a client wants: sent -> acknowledged with an id, or unknown when the answer did not come. */
export interface Claim {
  readonly key: string;
  readonly reference: string;
  id?: string;
}

export interface Load {
  readonly claims: readonly Claim[];
  /** Answers other than 201. */
  readonly refused: readonly Answer[];
  /** How many requests got no answer at all. */
  readonly lost: () => number;
  /** Resolves at the answer that brings the count of acknowledged payments to this number. */
  readonly acknowledged: (count: number) => Promise<void>;
  /** Lets every client finish the request it has under way. */
  readonly stop: () => void;
  readonly ended: Promise<void>;
}

export const CLIENTS = 16;

/** Each client sends one create after another, and ends at the first one that is not answered with 201. */
export function startLoad(url: string, name: string, clients = CLIENTS): Load {
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
        answer = await createPayment(url, claim.key, claim.reference);
      } catch {
        lost += 1;
        return;
      }
      if (answer.status !== 201) {
        refused.push(answer);
        return;
      }
      claim.id = String(answer.body.id);
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
          throw new Error(`The load ended after ${acknowledged} of ${count} answers.`);
      });
      return Promise.race([reached, early]);
    },
    stop: () => {
      isStopped = true;
    },
    ended,
  };
}

export function newClaim(name: string): Claim {
  return { key: `key-${name}`, reference: `ref-${name}` };
}

export function newClaims(name: string, count: number): readonly Claim[] {
  return Array.from({ length: count }, (_, i) => newClaim(`${name}-${i}`));
}

export interface Retried {
  /** Acknowledged before, and answered the same again. */
  readonly repeated: number;
  /** Not answered before, yet written. */
  readonly found: number;
  /** Not answered before and not written; written now. */
  readonly made: number;
}

/** Sends every claim again as it was. What was acknowledged must be replayed; the rest must succeed now. */
export async function retry(url: string, claims: readonly Claim[]): Promise<Retried> {
  const counts = { repeated: 0, found: 0, made: 0 };
  await inParallel(claims, async (claim) => {
    const answer = await createPayment(url, claim.key, claim.reference);
    expect(answer.status, JSON.stringify(answer.body)).toBe(201);
    expect(answer.body.reference).toBe(claim.reference);
    if (claim.id === undefined) {
      claim.id = String(answer.body.id);
      if (answer.isReplay) counts.found += 1;
      else counts.made += 1;
    } else {
      expect({ id: answer.body.id, isReplay: answer.isReplay }).toEqual({ id: claim.id, isReplay: true });
      counts.repeated += 1;
    }
  });
  return counts;
}

/** Every claim is in the list exactly once, under the id that its client was told, and nothing else is. */
export async function expectListed(url: string, claims: readonly Claim[]): Promise<void> {
  const listed = await listPayments(url);
  const line = (id: string | undefined, reference: string | null): string => `${id} ${reference}`;
  expectSame(
    listed.map(({ id, reference }) => line(id, reference)),
    claims.map(({ id, reference }) => line(id, reference)),
  );
}

/** Equal as bags. Thousands of lines of a failed comparison help nobody, so only the first differences are told. */
export function expectSame(found: readonly string[], wanted: readonly string[]): void {
  const counts = new Map<string, number>();
  for (const line of found) counts.set(line, (counts.get(line) ?? 0) + 1);
  for (const line of wanted) counts.set(line, (counts.get(line) ?? 0) - 1);
  const differences = [...counts].filter(([, count]) => count !== 0);
  expect({
    tooMany: differences.filter(([, count]) => count > 0).slice(0, 5),
    missing: differences.filter(([, count]) => count < 0).slice(0, 5),
  }).toEqual({ tooMany: [], missing: [] });
}

/** No other refusal than that the service is not available, said as the contract says it. */
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
