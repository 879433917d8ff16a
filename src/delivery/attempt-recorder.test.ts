import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { AttemptRecorder, type RecordedAttempt } from './attempt-recorder.ts';

const webhookId = 'whk_1';
const claim = { webhookId, failingSince: null } as unknown as RecordedAttempt['claim'];
const attemptOf = (deliveryId: string, bytes = 0): RecordedAttempt['attempt'] =>
  ({
    ...{ deliveryId, at: 0, error: null, responseStatus: 200, responseBody: 'x'.repeat(bytes) },
    ...{ responseHeaders: null, requestHeaders: null, copies: [] },
  }) as unknown as RecordedAttempt['attempt'];

/** A recorder whose database refuses the first writes. */
function open(refusals: number) {
  const written: string[][] = [];
  const recorded: string[] = [];
  const errors: string[] = [];
  let calls = 0;
  const recorder = new AttemptRecorder({
    queue: {
      mark: async (attempts) => {
        calls += 1;
        if (calls <= refusals) throw new Error('the database is away');
        written.push(attempts.map((attempt) => idOf(attempt)));
      },
    },
    releasedBy: () => [webhookId],
    onRecorded: (batch) => recorded.push(...batch.map(({ attempt }) => idOf(attempt))),
    onError: (_error, what) => errors.push(what),
    engine: undefined as never,
    wallClock: () => 0,
  });
  return { recorder, written, recorded, errors };
}

const idOf = (attempt: unknown) => (attempt as { deliveryId: string }).deliveryId;

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

describe('an attempt that ended while the database is away', () => {
  test('is written when it is back', async () => {
    const { recorder, written, recorded, errors } = open(3);
    const added = recorder.add(claim, attemptOf('dlv_1'));
    const started = recorder.start();
    await vi.advanceTimersByTimeAsync(750);
    await Promise.all([added, started]);
    expect(written).toEqual([['dlv_1']]);
    expect(recorded).toEqual(['dlv_1']);
    expect(errors).toEqual(Array(3).fill('deliveries were not marked'));
  });

  test('is given up after 15 seconds: its lease ends soon after that, and it is sent again', async () => {
    const { recorder, written, recorded, errors } = open(Number.POSITIVE_INFINITY);
    let isGivenUp = false;
    const added = recorder.add(claim, attemptOf('dlv_1')).then(() => {
      isGivenUp = true;
    });
    const started = recorder.start();
    await vi.advanceTimersByTimeAsync(59 * 250 - 1);
    expect(isGivenUp).toBe(false);
    await vi.advanceTimersByTimeAsync(1);
    await Promise.all([added, started]);
    expect(written).toEqual([]);
    // Its slot is free again.
    expect(recorded).toEqual(['dlv_1']);
    expect(errors).toHaveLength(60);
    expect(recorder.isRunning).toBe(false);
  });

  test('is not waited for by a process that stops', async () => {
    const { recorder, errors } = open(Number.POSITIVE_INFINITY);
    const added = recorder.add(claim, attemptOf('dlv_1'));
    recorder.stop();
    await Promise.all([added, recorder.start()]);
    expect(errors).toHaveLength(1);
  });
});

describe('attempts that end together', () => {
  test('are written in one statement, at most 256 of them', async () => {
    const { recorder, written } = open(0);
    for (let i = 0; i < 300; i += 1) void recorder.add(claim, attemptOf(`dlv_${i}`));
    await recorder.start();
    expect(written.map(({ length }) => length)).toEqual([256, 44]);
    expect(written.flat()).toEqual(Array.from({ length: 300 }, (_, i) => `dlv_${i}`));
  });

  test('are written by one writer, however often it is started', async () => {
    const { recorder, written } = open(1);
    const added = recorder.add(claim, attemptOf('dlv_1'));
    const started = recorder.start();
    expect(recorder.isRunning).toBe(true);
    void recorder.add(claim, attemptOf('dlv_2'));
    // The first write has failed and waits; a second writer would overtake it.
    await recorder.start();
    expect(written).toEqual([]);
    await vi.advanceTimersByTimeAsync(250);
    await Promise.all([added, started]);
    expect(written).toEqual([['dlv_1'], ['dlv_2']]);
  });

  test('are written with at most 512 KiB in a statement, but a larger one alone', async () => {
    const { recorder, written } = open(0);
    for (const [id, kibibytes] of [300, 200, 100, 600, 1].entries())
      void recorder.add(claim, attemptOf(`dlv_${id}`, kibibytes * 1_024));
    await recorder.start();
    expect(written).toEqual([['dlv_0', 'dlv_1'], ['dlv_2'], ['dlv_3'], ['dlv_4']]);
  });

  test('keep further ones from being sent while more than 8 MiB wait', async () => {
    const { recorder } = open(0);
    void recorder.add(claim, attemptOf('dlv_1', 8 * 1_024 * 1_024 - 1));
    expect(recorder.isFull).toBe(false);
    void recorder.add(claim, attemptOf('dlv_2', 1));
    expect(recorder.isFull).toBe(true);
    await recorder.start();
    expect(recorder.isFull).toBe(false);
  });
});
