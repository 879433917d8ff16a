import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { Throttle } from './throttle.ts';

let runs = 0;
let finish: () => void = () => undefined;
const task = () => {
  runs += 1;
  return new Promise<void>((resolve) => {
    finish = resolve;
  });
};
const finished = async () => {
  finish();
  await vi.advanceTimersByTimeAsync(0);
};

beforeEach(() => {
  runs = 0;
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
});
afterEach(() => void vi.useRealTimers());

test('runs at once', () => {
  new Throttle(task).call();
  expect(runs).toBe(1);
});

test('many calls during a run cause one more run, after the pause', async () => {
  const throttle = new Throttle(task);
  for (let i = 0; i < 100; i++) throttle.call();
  await finished();
  expect(runs).toBe(1);
  await vi.advanceTimersByTimeAsync(300);
  expect(runs).toBe(2);
  await finished();
  await vi.advanceTimersByTimeAsync(10_000);
  expect(runs).toBe(2);
});

test('pauses as long as the run took', async () => {
  const throttle = new Throttle(task);
  throttle.call();
  throttle.call();
  await vi.advanceTimersByTimeAsync(2_000);
  await finished();
  await vi.advanceTimersByTimeAsync(1_999);
  expect(runs).toBe(1);
  await vi.advanceTimersByTimeAsync(1);
  expect(runs).toBe(2);
});

test('a failed run does not stop the next one', async () => {
  let failures = 0;
  const throttle = new Throttle(async () => {
    failures += 1;
    throw new Error('no answer');
  });
  throttle.call();
  await vi.advanceTimersByTimeAsync(300);
  throttle.call();
  expect(failures).toBe(2);
});

test('does not run after it was stopped', async () => {
  const throttle = new Throttle(task);
  throttle.call();
  throttle.call();
  throttle.stop();
  await finished();
  await vi.advanceTimersByTimeAsync(10_000);
  throttle.call();
  expect(runs).toBe(1);
});
