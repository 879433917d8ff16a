import type { Database } from '../db/database.ts';
import { deleteInBatches } from '../db/delete-in-batches.ts';
import { DatabaseFailure } from '../db/failure.ts';
import { assert } from '../kernel/assert.ts';
import type { Answer, Erased, Submission } from '../kernel/command.ts';
import { type Refusal, refuse } from '../kernel/errors.ts';
import type { Instant } from '../kernel/table.ts';
import type { CommandSpan, EngineTracing } from '../telemetry/ports.ts';
import { reapAnswers, reapStoredSecrets } from './answers.ts';
import { runBatch } from './batch.ts';
import type { BatchSettings, Priors } from './batch-settings.ts';
import type { Committed } from './batch-trail.ts';
import { isOrganizationBusy } from './clearing.ts';
import type { IdGenerator } from './id-generator.ts';
import { KnownClocks } from './known-clocks.ts';
import { PersistBusy } from './persist.ts';
import { type Queued, takeBatch } from './queue.ts';
import { RecentKeys } from './recent-keys.ts';
import { claimScope, refusalAnswer, refusedCommand } from './submission.ts';

export interface EngineMetrics {
  batch(size: number, milliseconds: number): void;
  wait(milliseconds: number): void;
  retry(reason: string): void;
  /** A command of a batch was answered. */
  answered(answer: Answer): void;
  /** A command was rejected without being run: the queue was full, or it had waited too long. */
  turnedAway(reason: 'queue_full' | 'too_late'): void;
}

export interface EngineSettings extends BatchSettings {
  readonly queueMax?: number;
  readonly batchMax?: number;
  /** How long a command may wait in the queue. */
  readonly waitMsMax?: number;
  readonly metrics: EngineMetrics;
  /** Undefined when tracing is off. */
  readonly tracing?: EngineTracing | undefined;
}

const queueMaxDefault = 2_000;
// Larger batches gain nothing: the cost of the round trips is already amortized, and the responses arrive later.
const batchMaxDefault = 256;
const secondBatchThreshold = 24;
const singleAttemptsMax = 4;
const waitMsMaxDefault = 10_000;
const retryAfterSeconds = 1;
// After one reused key, more are likely: a client is retrying, or replaying its log.
const distrustMs = 1_000;

/**
 * The only writer. Commands are queued and written in batches. If a batch may start, it starts immediately; otherwise commands
 * accumulate and share the next batch.
 *
 * A command is queued -> in a batch -> answered. Commands leave the queue in order, except that a command waits while another
 * one with the same idempotency key is in flight: it will get the same response. A batch that conflicts with another node is
 * retried. If it conflicts again, its commands run one by one, so that one bad command cannot fail the others. When the
 * database is unavailable, all commands of the batch get a 503: nothing is written partially, and the client may send the same
 * request with the same key again.
 */
export class Engine {
  readonly #database: Database;
  readonly #settings: EngineSettings;
  readonly #queueMax: number;
  readonly #batchMax: number;
  readonly #waitMsMax: number;
  readonly #claimed = new Set<string>();
  readonly #recentKeys = new RecentKeys();
  readonly #clocks = new KnownClocks();
  /** Organizations that are being reset: their other commands wait in the queue, not in the database. */
  readonly #clearing = new Set<string>();
  #trustFrom = 0;
  #queue: Queued[] = [];
  #batchesInFlight = 0;
  #commandsInFlight = 0;
  #isScheduled = false;
  #onIdle: (() => void)[] = [];
  readonly #watchers: ((committed: Committed) => void)[] = [];

  constructor(database: Database, settings: EngineSettings) {
    this.#database = database;
    if (settings.onCommit) this.#watchers.push(settings.onCommit);
    this.#settings = { ...settings, onCommit: (committed) => this.#notifyWatchers(committed) };
    this.#queueMax = settings.queueMax ?? queueMaxDefault;
    this.#batchMax = settings.batchMax ?? batchMaxDefault;
    this.#waitMsMax = settings.waitMsMax ?? waitMsMaxDefault;
  }

  /** Generates the ids of rows that commands create. Clients of the engine use it for their commands, too. */
  get idGenerator(): IdGenerator {
    return this.#settings.idGenerator;
  }

  /** Calls back after every commit, before its commands are answered. */
  watch(onCommit: (committed: Committed) => void): void {
    this.#watchers.push(onCommit);
  }

  get queueLength(): number {
    return this.#queue.length;
  }

  get queueMax(): number {
    return this.#queueMax;
  }

  /** Never rejects: refusals, bugs and an unavailable database are answers too. */
  submit<Input, Result>(submission: Submission<Input, Result>): Promise<Answer<Result>> {
    if (this.#queue.length >= this.#queueMax) {
      this.#settings.metrics.turnedAway('queue_full');
      return Promise.resolve(
        this.#answer(
          submission,
          refuse('service_unavailable', {
            message:
              'Too many writes are waiting. Send the same request again with the same Idempotency-Key.',
            retryAfterSeconds,
          }),
        ),
      );
    }
    const { kind, context } = submission;
    const span = this.#settings.tracing?.command(kind.name, context.requestId);
    const answer = new Promise<Answer<Result>>((resolve) => {
      const scope = claimScope(submission);
      this.#queue.push({ submission, scope, arrivedAt: performance.now(), resolve, span });
      this.#schedule();
    });
    return span ? traced(answer, span) : answer;
  }

  /** Resolves when all submitted commands are answered. */
  async drain(): Promise<void> {
    if (this.#queue.length === 0 && this.#batchesInFlight === 0) return;
    await new Promise<void>((resolve) => {
      this.#onIdle.push(resolve);
    });
  }

  /** Deletes stored responses older than the given instant, in bounded batches. Returns their number. */
  reap(before: Instant): Promise<number> {
    return deleteInBatches(this.#database, reapAnswers, before);
  }

  /** Deletes the encrypted copies of responses with secrets that are older than the given instant. Returns their number. */
  reapSecrets(before: Instant): Promise<number> {
    return deleteInBatches(this.#database, reapStoredSecrets, before);
  }

  /** Waits one turn of the event loop, so that requests that arrive together share a batch. */
  #schedule(): void {
    if (this.#isScheduled || !this.#canStartBatch(this.#queue.length)) return;
    this.#isScheduled = true;
    setImmediate(() => {
      this.#isScheduled = false;
      const batch = this.#take();
      if (batch.length > 0) void this.#runQueued(batch);
      else this.#notifyIdle();
    });
  }

  /**
   * The first batch starts for any command, a second one only if enough commands wait: it uses this process while the database
   * writes the first. Creates per second at 64 connections by threshold, medians of eight runs: 5,600 with 12, 6,270 with 24,
   * 5,860 with 64, which is never reached.
   */
  #canStartBatch(waiting: number): boolean {
    if (this.#batchesInFlight >= this.#database.batchesInFlightMax) return false;
    // A reset may take long, so it does not count as the first batch.
    const isFirst = this.#batchesInFlight === this.#clearing.size;
    return waiting >= (isFirst ? 1 : secondBatchThreshold);
  }

  /**
   * When all clients wait, each batch takes its share of the commands: one batch of all of them would let this process idle while the
   * database writes, and the database idle while this process answers and decides. At 64 connections most batches had become that
   * large, and 1.0 of 2 batches were in flight on average.
   */
  get #sizeMax(): number {
    const share = Math.ceil(
      (this.#queue.length + this.#commandsInFlight) / this.#database.batchesInFlightMax,
    );
    return Math.min(this.#batchMax, Math.max(secondBatchThreshold, share));
  }

  #take(): readonly Queued[] {
    this.#rejectExpired();
    const { batch, remaining } = takeBatch(this.#queue, this.#sizeMax, this.#claimed, this.#clearing);
    this.#queue = remaining;
    return batch;
  }

  /** A hanging database delays one batch after the other: commands that have waited too long are not run at all. */
  #rejectExpired(): void {
    const oldest = performance.now() - this.#waitMsMax;
    if ((this.#queue[0]?.arrivedAt ?? oldest) >= oldest) return;
    for (const { submission, resolve, arrivedAt } of this.#queue) {
      if (arrivedAt >= oldest) continue;
      this.#settings.metrics.turnedAway('too_late');
      resolve(this.#unavailable(submission));
    }
    this.#queue = this.#queue.filter(({ arrivedAt }) => arrivedAt >= oldest);
  }

  async #runQueued(batch: readonly Queued[]): Promise<void> {
    assert(batch.length > 0, 'a batch must not be empty');
    this.#batchesInFlight += 1;
    this.#commandsInFlight += batch.length;
    const startedAt = performance.now();
    for (const { scope, arrivedAt, submission } of batch) {
      if (scope !== null) this.#claimed.add(scope);
      if (submission.kind.clears) this.#clearing.add(submission.context.orgId);
      this.#settings.metrics.wait(startedAt - arrivedAt);
    }
    this.#schedule();
    const { metrics, tracing } = this.#settings;
    const attempt = () => this.#attempt(batch.map(({ submission }) => submission));
    const spans = tracing && batch.map(({ span }) => span);
    const answers = await (spans ? tracing.batch(spans, attempt) : attempt());
    for (const { scope, submission } of batch) {
      if (scope !== null) this.#claimed.delete(scope);
      if (submission.kind.clears) this.#clearing.delete(submission.context.orgId);
    }
    metrics.batch(batch.length, performance.now() - startedAt);
    this.#batchesInFlight -= 1;
    this.#commandsInFlight -= batch.length;
    batch.forEach(({ resolve, submission }, i) => {
      const answer = answers[i] ?? this.#answer(submission, refuse('internal_error'));
      metrics.answered(answer);
      resolve(answer);
    });
    this.#schedule();
    this.#notifyIdle();
  }

  #notifyWatchers(committed: Committed): void {
    for (const onCommit of this.#watchers) onCommit(committed);
  }

  #notifyIdle(): void {
    if (this.#queue.length > 0 || this.#batchesInFlight > 0) return;
    for (const resolve of this.#onIdle.splice(0)) resolve();
  }

  async #attempt(submissions: readonly Submission[]): Promise<readonly Answer<Erased>[]> {
    const attempts: readonly Priors[] = this.#isTrusting(submissions)
      ? ['trust-none', 'query', 'query']
      : ['query', 'query'];
    for (const priors of attempts) {
      try {
        const answers = await runBatch(this.#database, submissions, this.#settings, this.#clocks, priors);
        if (answers) return answers;
      } catch (error) {
        if (isUnavailable(error)) return submissions.map((submission) => this.#unavailable(submission));
        this.#settings.metrics.retry(reasonOf(error));
        if (!isConflict(error)) break;
        if (priors === 'trust-none') this.#trustFrom = performance.now() + distrustMs;
      }
    }
    const answers: Answer<Erased>[] = [];
    // All commands of an organization that is being reset on another node share one wait.
    const busy = new Set<string>();
    for (const submission of submissions) {
      const isBusy = busy.has(submission.context.orgId);
      answers.push(isBusy ? this.#unavailable(submission) : await this.#single(submission, busy));
    }
    return answers;
  }

  /**
   * Nearly every key is new, and the query costs as much as a fifth of the write. So the engine skips it for keys that this
   * node has not seen recently. A key that was used on another node, or before this one started, costs a second attempt.
   */
  #isTrusting(submissions: readonly Submission[]): boolean {
    // A command that clears its organization would delete the stored response before it looks up its idempotency key.
    let isTrusting = performance.now() >= this.#trustFrom && submissions[0]?.kind.clears !== true;
    for (const submission of submissions) {
      const scope = claimScope(submission);
      if (scope === null) continue;
      if (this.#recentKeys.has(scope)) isTrusting = false;
      else this.#recentKeys.add(scope);
    }
    return isTrusting;
  }

  async #single(submission: Submission, busy: Set<string>): Promise<Answer<Erased>> {
    for (let attempt = 1; ; attempt += 1) {
      try {
        const [answer] =
          (await runBatch(this.#database, [submission], this.#settings, this.#clocks, 'query')) ?? [];
        assert(answer, 'a batch of one must have one answer');
        return answer;
      } catch (error) {
        if (error instanceof PersistBusy) return this.#inProgress(submission);
        if (isOrganizationBusy(error)) busy.add(submission.context.orgId);
        if (isUnavailable(error) || (error instanceof DatabaseFailure && error.kind === 'busy'))
          return this.#unavailable(submission);
        if (isConflict(error) && attempt < singleAttemptsMax) continue;
        if (isConflict(error)) return this.#unavailable(submission);
        this.#settings.onBug(error, submission.context.requestId);
        return this.#answer(submission, refuse('internal_error'));
      }
    }
  }

  /** Another transaction with the same key is in progress. The refusal is still audited. */
  async #inProgress(submission: Submission): Promise<Answer<Erased>> {
    const refusal = refuse('idempotency_in_progress', { param: 'Idempotency-Key', retryAfterSeconds });
    const kind = refusedCommand(submission.kind.name, refusal);
    const audited: Submission = { ...submission, kind, input: undefined, idempotency: null };
    const answers = await runBatch(this.#database, [audited], this.#settings, this.#clocks, 'query').catch(
      () => undefined,
    );
    return answers?.[0] ?? this.#unavailable(submission);
  }

  #unavailable(submission: Submission): Answer<never> {
    return this.#answer(submission, refuse('service_unavailable', { retryAfterSeconds }));
  }

  #answer({ context }: Submission, refusal: Refusal): Answer<never> {
    return refusalAnswer(refusal, context.requestId, this.#settings.docsUrl());
  }
}

async function traced<Result>(answer: Promise<Answer<Result>>, span: CommandSpan): Promise<Answer<Result>> {
  const result = await answer;
  span.end(result.isReplay ? 'replayed' : (result.code ?? 'accepted'));
  return result;
}

function isUnavailable(error: unknown): boolean {
  return error instanceof DatabaseFailure && error.kind === 'unavailable';
}

function isConflict(error: unknown): boolean {
  return error instanceof DatabaseFailure && error.kind === 'conflict';
}

function reasonOf(error: unknown): string {
  if (error instanceof PersistBusy) return 'busy';
  return error instanceof DatabaseFailure ? error.kind : 'fault';
}
