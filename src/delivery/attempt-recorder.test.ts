import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { AttemptRecorder, type RecordedAttempt } from './attempt-recorder.ts';

const webhookId = 'whk_1';
const claim = { webhookId, failingSince: null } as unknown as RecordedAttempt['claim'];
const attemptOf = (deliveryId: string, bytes = 0): RecordedAttempt['attempt'] =>
  ({
    ...{ deliveryId, at: 0, error: null, responseStatus: 200, responseBody: 'x'.repeat(bytes) },
    ...{ responseHeaders: null, requestHeaders: null, copies: [] },
  }) as unknown as RecordedAttempt['attempt'];

/** A recorder whose database rejects the first writes. */
function setUp(failures: number) {
  const written: string[][] = [];
  const recorded: string[] = [];
  const errors: string[] = [];
  let calls = 0;
  const recorder = new AttemptRecorder({
    queue: {
      mark: async (attempts) => {
        calls += 1;
        if (calls <= failures) throw new Error('the database is unavailable');
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

describe('an attempt that completes while the database is unavailable', () => {
  test('is written when the database is available again', async () => {
    const { recorder, written, recorded, errors } = setUp(3);
    const added = recorder.add(claim, attemptOf('dlv_1'));
    const started = recorder.start();
    await vi.advanceTimersByTimeAsync(750);
    await Promise.all([added, started]);
    expect(written).toEqual([['dlv_1']]);
    expect(recorded).toEqual(['dlv_1']);
    expect(errors).toEqual(Array(3).fill('failed to record delivery attempts'));
  });

  test('is abandoned after 15 seconds: its lease expires soon after that, and the delivery is sent again', async () => {
    const { recorder, written, recorded, errors } = setUp(Number.POSITIVE_INFINITY);
    let isAbandoned = false;
    const added = recorder.add(claim, attemptOf('dlv_1')).then(() => {
      isAbandoned = true;
    });
    const started = recorder.start();
    await vi.advanceTimersByTimeAsync(59 * 250 - 1);
    expect(isAbandoned).toBe(false);
    await vi.advanceTimersByTimeAsync(1);
    await Promise.all([added, started]);
    expect(written).toEqual([]);
    // Its slot is released.
    expect(recorded).toEqual(['dlv_1']);
    expect(errors).toHaveLength(60);
    expect(recorder.isRunning).toBe(false);
  });

  test('is not retried while the process stops', async () => {
    const { recorder, errors } = setUp(Number.POSITIVE_INFINITY);
    const added = recorder.add(claim, attemptOf('dlv_1'));
    recorder.stop();
    await Promise.all([added, recorder.start()]);
    expect(errors).toHaveLength(1);
  });
});

describe('attempts that complete together', () => {
  test('are written in one statement, at most 256 of them', async () => {
    const { recorder, written } = setUp(0);
    for (let i = 0; i < 300; i += 1) void recorder.add(claim, attemptOf(`dlv_${i}`));
    await recorder.start();
    expect(written.map(({ length }) => length)).toEqual([256, 44]);
    expect(written.flat()).toEqual(Array.from({ length: 300 }, (_, i) => `dlv_${i}`));
  });

  test('are written by one writer, however often it is started', async () => {
    const { recorder, written } = setUp(1);
    const added = recorder.add(claim, attemptOf('dlv_1'));
    const started = recorder.start();
    expect(recorder.isRunning).toBe(true);
    void recorder.add(claim, attemptOf('dlv_2'));
    // The first write failed and waits for its retry; a second writer would overtake it.
    await recorder.start();
    expect(written).toEqual([]);
    await vi.advanceTimersByTimeAsync(250);
    await Promise.all([added, started]);
    expect(written).toEqual([['dlv_1'], ['dlv_2']]);
  });

  test('are written with at most 512 KiB in a statement, but a larger one alone', async () => {
    const { recorder, written } = setUp(0);
    for (const [id, kibibytes] of [300, 200, 100, 600, 1].entries())
      void recorder.add(claim, attemptOf(`dlv_${id}`, kibibytes * 1_024));
    await recorder.start();
    expect(written).toEqual([['dlv_0', 'dlv_1'], ['dlv_2'], ['dlv_3'], ['dlv_4']]);
  });

  test('block further attempts while more than 8 MiB are pending', async () => {
    const { recorder } = setUp(0);
    void recorder.add(claim, attemptOf('dlv_1', 8 * 1_024 * 1_024 - 1));
    expect(recorder.isFull).toBe(false);
    void recorder.add(claim, attemptOf('dlv_2', 1));
    expect(recorder.isFull).toBe(true);
    await recorder.start();
    expect(recorder.isFull).toBe(false);
  });
});
