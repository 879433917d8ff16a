import { useQueryClient } from '@tanstack/react-query';
import { useRef, useState } from 'react';
import { IdempotencyKey } from './idempotency.ts';
import { refetchOrganization } from './queries.ts';
import { type ApiProblem, asProblem, type Path, post } from './request.ts';
import { useScope } from './scope.ts';

/** An action that is applied to each selected row through the route of one record. */
export interface BulkAction<Row> {
  /** 'Capture'. */
  readonly label: string;
  /** 'captured', after 'can be' and after a number of records. */
  readonly done: string;
  readonly isDanger?: boolean;
  readonly isAllowed: (row: Row) => boolean;
  /** One sentence for the confirmation. */
  readonly effect: string;
  readonly request: (row: Row) => { readonly path: Path; readonly body: object };
}

export type Outcome =
  | { readonly state: 'waiting' | 'running' | 'succeeded' }
  | { readonly state: 'failed'; readonly problem: ApiProblem };

/** More requests at once would not be faster: the server collects concurrent writes in batches, and reads queue behind them. */
const requestsAtOnceMax = 4;

/**
 * Runs a write for each id, a few at a time. After `shouldStop` answers true no further one starts, and those that have not
 * started stay `waiting`.
 */
export async function runEach(
  ids: readonly string[],
  write: (id: string) => Promise<unknown>,
  onOutcome: (id: string, outcome: Outcome) => void,
  shouldStop: () => boolean,
): Promise<void> {
  const queue = [...ids];
  let isSessionOver = false;
  const work = async () => {
    for (let id = queue.shift(); id !== undefined; id = queue.shift()) {
      if (isSessionOver || shouldStop()) return;
      onOutcome(id, { state: 'running' });
      try {
        await write(id);
        onOutcome(id, { state: 'succeeded' });
      } catch (thrown) {
        const problem = asProblem(thrown);
        isSessionOver ||= problem.code === 'session_missing';
        onOutcome(id, { state: 'failed', problem });
      }
    }
  };
  await Promise.all(Array.from({ length: Math.min(requestsAtOnceMax, ids.length) }, work));
}

export interface BulkRun<Row> {
  readonly outcomes: ReadonlyMap<string, Outcome>;
  readonly isRunning: boolean;
  readonly run: (rows: readonly Row[]) => void;
  readonly stop: () => void;
}

/** The progress of an action on many rows. A retry after an unknown outcome sends the same Idempotency-Key. */
export function useBulkRun<Row extends { readonly id: string }>(action: BulkAction<Row>): BulkRun<Row> {
  const scope = useScope();
  const client = useQueryClient();
  const [outcomes, setOutcomes] = useState<ReadonlyMap<string, Outcome>>(new Map());
  const [isRunning, setRunning] = useState(false);
  const isStopped = useRef(false);
  const keys = useRef(new Map<string, IdempotencyKey>());
  const set = (id: string, outcome: Outcome) => setOutcomes((known) => new Map(known).set(id, outcome));
  const send = async (row: Row) => {
    const key = keys.current.get(row.id) ?? new IdempotencyKey();
    keys.current.set(row.id, key);
    const { path, body } = action.request(row);
    try {
      await post(path, body, key.of(path, body), scope);
      key.settle();
    } catch (thrown) {
      const problem = asProblem(thrown);
      key.settle(problem);
      throw problem;
    }
  };
  const run = async (rows: readonly Row[]) => {
    isStopped.current = false;
    setRunning(true);
    const byId = new Map(rows.map((row) => [row.id, row]));
    for (const id of byId.keys()) set(id, { state: 'waiting' });
    const write = async (id: string) => {
      const row = byId.get(id);
      if (row !== undefined) await send(row);
    };
    await runEach([...byId.keys()], write, set, () => isStopped.current);
    setRunning(false);
    await refetchOrganization(client, scope);
  };
  return {
    outcomes,
    isRunning,
    run: (rows) => void run(rows),
    stop: () => {
      isStopped.current = true;
    },
  };
}
