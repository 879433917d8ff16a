import { expect, test } from 'vitest';
import { KeyedMutex } from './keyed-mutex.ts';

/** Tasks that a test completes, and a log of their starts. */
function setUp() {
  const mutex = new KeyedMutex();
  const log: string[] = [];
  const run = (key: string, name: string) => {
    let [resolve, reject] = [(_value: string) => {}, (_error: Error) => {}];
    const ended = new Promise<string>((...ends) => {
      [resolve, reject] = ends;
    });
    const result = mutex.run(key, () => {
      log.push(name);
      return ended;
    });
    return { result, resolve, reject };
  };
  const settle = () => new Promise((resolve) => setImmediate(resolve));
  return { run, log, settle };
}

test('tasks with the same key run one after the other, in call order', async () => {
  const { run, log, settle } = setUp();
  const [first, second, third] = [run('a', '1'), run('a', '2'), run('a', '3')];
  third.resolve('third');
  await settle();
  expect(log).toEqual(['1']);
  first.resolve('first');
  expect(await first.result).toBe('first');
  await settle();
  expect(log).toEqual(['1', '2']);
  second.resolve('second');
  expect(await Promise.all([second.result, third.result])).toEqual(['second', 'third']);
  expect(log).toEqual(['1', '2', '3']);
});

test('tasks with different keys do not wait for each other', async () => {
  const { run, log, settle } = setUp();
  run('a', '1');
  run('b', '2');
  await settle();
  expect(log).toEqual(['1', '2']);
});

test('a failure reaches its caller and does not stop the next task', async () => {
  const { run, log } = setUp();
  const [first, second] = [run('a', '1'), run('a', '2')];
  first.reject(new Error('failed'));
  await expect(first.result).rejects.toThrow('failed');
  second.resolve('second');
  expect(await second.result).toBe('second');
  expect(log).toEqual(['1', '2']);
});

test('a task that arrives after an earlier one has ended still waits for the one in between', async () => {
  const { run, log, settle } = setUp();
  const [first, second] = [run('a', '1'), run('a', '2')];
  first.resolve('');
  await first.result;
  await settle();
  const third = run('a', '3');
  await settle();
  expect(log).toEqual(['1', '2']);
  second.resolve('');
  third.resolve('');
  await third.result;
  expect(log).toEqual(['1', '2', '3']);
});
