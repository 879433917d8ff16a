import { expect, test } from 'vitest';
import { type Outcome, runEach } from './bulk.ts';
import { ApiProblem } from './request.ts';

const ids = Array.from({ length: 20 }, (_, index) => `id-${index}`);
const problemOf = (code: string) => new ApiProblem({ status: 409, code, message: code });

function recorder() {
  const outcomes = new Map<string, Outcome>();
  const count = (state: Outcome['state']) =>
    [...outcomes.values()].filter((outcome) => outcome.state === state).length;
  return { outcomes, count, record: (id: string, outcome: Outcome) => void outcomes.set(id, outcome) };
}

test('every row is written once, at most four at a time, and a failure does not stop the others', async () => {
  const { outcomes, count, record } = recorder();
  const written: string[] = [];
  let running = 0;
  let runningMax = 0;
  const write = async (id: string) => {
    running += 1;
    runningMax = Math.max(runningMax, running);
    await Promise.resolve();
    running -= 1;
    written.push(id);
    if (id === 'id-3') throw problemOf('invalid_state');
  };
  await runEach(ids, write, record, () => false);
  expect(written.toSorted()).toEqual(ids.toSorted());
  expect(runningMax).toBe(4);
  expect(count('succeeded')).toBe(19);
  expect(outcomes.get('id-3')).toMatchObject({ state: 'failed', problem: { code: 'invalid_state' } });
});

test('after a stop the running writes end, and the others do not start', async () => {
  const { count, record } = recorder();
  let started = 0;
  const write = async () => {
    started += 1;
    await Promise.resolve();
  };
  await runEach(ids, write, record, () => started >= 4);
  expect(started).toBe(4);
  expect(count('succeeded')).toBe(4);
});

test('when the session has ended, no further row is tried', async () => {
  const { count, record } = recorder();
  const write = () => Promise.reject(problemOf('session_missing'));
  await runEach(ids, write, record, () => false);
  expect(count('failed')).toBeLessThanOrEqual(4);
});
