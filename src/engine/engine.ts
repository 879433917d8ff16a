import type { Database } from '../db/database.ts';
import { deleteInBatches } from '../db/delete-in-batches.ts';
import { assert } from '../kernel/assert.ts';
import { type Refusal, refuse } from '../kernel/errors.ts';
import { DatabaseFailure } from '../kernel/failure.ts';
import type { Instant } from '../kernel/table.ts';
import type { CommandSpan, EngineTracing } from '../telemetry/ports.ts';
import { reapAnswers, reapStoredSecrets } from './answers.ts';
import { type BatchSettings, type Committed, type Priors, runBatch } from './batch.ts';
import { isOrganizationBusy } from './clearing.ts';
import type { IdGenerator } from './id-generator.ts';
import { KnownClocks } from './known-clocks.ts';
import { PersistBusy } from './persist.ts';
import { RecentKeys } from './recent-keys.ts';
import { type Answer, claimScope, refusalAnswer, refusedCommand, type Submission } from './submission.ts';

export interface EngineMetrics {
  batch(size: number, milliseconds: number): void;
  wait(milliseconds: number): void;
  retry(reason: string): void;
  /** A command of a batch has its answer. */
  answered(answer: Answer): void;
  /** A command was never run: the queue was full, or it had waited too long. */
  turnedAway(reason: 'queue_full' | 'too_late'): void;
}

export interface EngineSettings extends BatchSettings {
  readonly queueMax?: number;
  readonly batchMax?: number;
  /** How long a command may wait for its batch. */
  readonly waitMsMax?: number;
  readonly metrics: EngineMetrics;
  /** Undefined where nothing is traced. */
  readonly tracing?: EngineTracing | undefined;
}

interface Queued {
  readonly submission: Submission;
  readonly scope: string | null;
  readonly arrivedAt: number;
  readonly resolve: (answer: Answer) => void;
  readonly span: CommandSpan | undefined;
}

const queueMaxDefault = 2_000;
// Past this a batch gains nothing: the cost of its round trips is spread thin already, and its answers come later.
const batchMaxDefault = 256;
const secondBatchThreshold = 24;
const singleAttemptsMax = 4;
const waitMsMaxDefault = 10_000;
const retryAfterSeconds = 1;
// After a key that was known elsewhere, more of them are likely: a client is retrying, or replaying its log.
const distrustMs = 1_000;

/**
 * The only writer. Commands queue; a batch leaves at once when a lane is free, else it takes along all that waits.
 *
 * A command is queued -> in a batch -> answered. It leaves the queue in order, except that it stays while another
 * with the same idempotency key is in flight: that one's answer will be its own. A batch that meets a conflict with
 * another node runs again; when that does not help, its commands run one by one, so that one bad command cannot sink
 * its neighbours. When the database is away everything in the batch is answered with 503: nothing is half done, and
 * the same request with the same key may be sent again.
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
  /** Organizations that are being reset: their other commands wait here, not in the database. */
  readonly #clearing = new Set<string>();
  #trustFrom = 0;
  #queue: Queued[] = [];
  #batchesInFlight = 0;
  #isScheduled = false;
  #onIdle: (() => void)[] = [];
  readonly #watchers: ((committed: Committed) => void)[] = [];

  constructor(database: Database, settings: EngineSettings) {
    this.#database = database;
    if (settings.onCommit) this.#watchers.push(settings.onCommit);
    this.#settings = { ...settings, onCommit: (committed) => this.#tell(committed) };
    this.#queueMax = settings.queueMax ?? queueMaxDefault;
    this.#batchMax = settings.batchMax ?? batchMaxDefault;
    this.#waitMsMax = settings.waitMsMax ?? waitMsMaxDefault;
  }

  /** Where the ids of what follows from commands come from; those of commands of the engine's clients come from there as well. */
  get idGenerator(): IdGenerator {
    return this.#settings.idGenerator;
  }

  /** Tells of every commit, before whoever waits for it is answered. */
  watch(onCommit: (committed: Committed) => void): void {
    this.#watchers.push(onCommit);
  }

  get queueLength(): number {
    return this.#queue.length;
  }

  get queueMax(): number {
    return this.#queueMax;
  }

  /** Always answers: refusals, faults and an unreachable database are answers too. */
  submit(submission: Submission): Promise<Answer> {
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
    const answer = new Promise<Answer>((resolve) => {
      const scope = claimScope(submission);
      this.#queue.push({ submission, scope, arrivedAt: performance.now(), resolve, span });
      this.#schedule();
    });
    return span ? traced(answer, span) : answer;
  }

  /** Resolves when all that was submitted is answered. */
  async drain(): Promise<void> {
    if (this.#queue.length === 0 && this.#batchesInFlight === 0) return;
    await new Promise<void>((resolve) => {
      this.#onIdle.push(resolve);
    });
  }

  /** Deletes kept answers that are older than the instant given, in bounded bites, and says how many. */
  reap(before: Instant): Promise<number> {
    return deleteInBatches(this.#database, reapAnswers, before);
  }

  /** Deletes the encrypted copies of responses with secrets that are older than the given instant. */
  reapSecrets(before: Instant): Promise<number> {
    return deleteInBatches(this.#database, reapStoredSecrets, before);
  }

  /** One turn of the event loop later: what came with one read of the sockets goes into one batch. */
  #schedule(): void {
    if (this.#isScheduled || !this.#hasLaneFor(this.#queue.length)) return;
    this.#isScheduled = true;
    setImmediate(() => {
      this.#isScheduled = false;
      const batch = this.#take();
      if (batch.length > 0) void this.#runLane(batch);
      else this.#tellIdle();
    });
  }

  /**
   * The first lane opens for anybody, a second one for a crowd: it keeps this process busy while the database writes the
   * first. Creates a second at 64 connections, medians of eight: 5,600 from 12 waiting on, 6,270 from 24 on, 5,860 from
   * 64 on, which is never.
   */
  #hasLaneFor(waiting: number): boolean {
    // A reset may take long, and nobody else waits for it where there is another lane.
    if (
      this.#batchesInFlight - this.#clearing.size === 0 &&
      this.#batchesInFlight < this.#database.batchesInFlightMax
    )
      return waiting > 0;
    return this.#batchesInFlight < this.#database.batchesInFlightMax && waiting >= secondBatchThreshold;
  }

  #take(): readonly Queued[] {
    this.#dropOld();
    const batch: Queued[] = [];
    const left: Queued[] = [];
    let isAlone = false;
    for (const queued of this.#queue) {
      const { submission, scope } = queued;
      const isHeld = scope !== null && this.#claimed.has(scope);
      const isStopped = isAlone || this.#clearing.has(submission.context.orgId);
      // What clears its organization is taken when it comes first, which it does at the next turn at the latest.
      const mustWait = submission.kind.clears && batch.length > 0;
      if (isHeld || isStopped || mustWait || batch.length >= this.#batchMax) {
        left.push(queued);
        continue;
      }
      batch.push(queued);
      isAlone = submission.kind.clears === true;
    }
    this.#queue = left;
    return batch;
  }

  /** A database that hangs holds up one batch after the other: what waited behind it long enough is not run at all. */
  #dropOld(): void {
    const oldest = performance.now() - this.#waitMsMax;
    if ((this.#queue[0]?.arrivedAt ?? oldest) >= oldest) return;
    for (const { submission, resolve, arrivedAt } of this.#queue) {
      if (arrivedAt >= oldest) continue;
      this.#settings.metrics.turnedAway('too_late');
      resolve(this.#unavailable(submission));
    }
    this.#queue = this.#queue.filter(({ arrivedAt }) => arrivedAt >= oldest);
  }

  async #runLane(batch: readonly Queued[]): Promise<void> {
    assert(batch.length > 0, 'an empty batch is never run');
    this.#batchesInFlight += 1;
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
    batch.forEach(({ resolve, submission }, i) => {
      const answer = answers[i] ?? this.#answer(submission, refuse('internal_error'));
      metrics.answered(answer);
      resolve(answer);
    });
    this.#schedule();
    this.#tellIdle();
  }

  #tell(committed: Committed): void {
    for (const tell of this.#watchers) tell(committed);
  }

  #tellIdle(): void {
    if (this.#queue.length > 0 || this.#batchesInFlight > 0) return;
    for (const resolve of this.#onIdle.splice(0)) resolve();
  }

  async #attempt(submissions: readonly Submission[]): Promise<readonly Answer[]> {
    const rounds: readonly Priors[] = this.#isTrusting(submissions)
      ? ['trust-none', 'look-up', 'look-up']
      : ['look-up', 'look-up'];
    for (const priors of rounds) {
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
    const answers: Answer[] = [];
    // Waiting once for an organization that is being reset elsewhere is enough for all of its commands.
    const busy = new Set<string>();
    for (const submission of submissions) {
      const isBusy = busy.has(submission.context.orgId);
      answers.push(isBusy ? this.#unavailable(submission) : await this.#single(submission, busy));
    }
    return answers;
  }

  /**
   * Nearly every key is new, and looking it up costs as much as a fifth of the write. So it is left out for keys that
   * this node has not met lately; one that another node met, or this one before it was started, costs a second round.
   */
  #isTrusting(submissions: readonly Submission[]): boolean {
    // What clears would delete the answer that is kept for its own key before it finds it.
    let isTrusting = performance.now() >= this.#trustFrom && submissions[0]?.kind.clears !== true;
    for (const submission of submissions) {
      const scope = claimScope(submission);
      if (scope === null) continue;
      if (this.#recentKeys.has(scope)) isTrusting = false;
      else this.#recentKeys.add(scope);
    }
    return isTrusting;
  }

  async #single(submission: Submission, busy: Set<string>): Promise<Answer> {
    for (let attempt = 1; ; attempt += 1) {
      try {
        const [answer] =
          (await runBatch(this.#database, [submission], this.#settings, this.#clocks, 'look-up')) ?? [];
        assert(answer, 'a batch of one has one answer');
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

  /** The transaction with the same key is somebody else's and not finished. The refusal itself is still audited. */
  async #inProgress(submission: Submission): Promise<Answer> {
    const refusal = refuse('idempotency_in_progress', { param: 'Idempotency-Key', retryAfterSeconds });
    const kind = refusedCommand(submission.kind.name, refusal);
    const audited: Submission = { ...submission, kind, input: undefined, idempotency: null };
    const answers = await runBatch(this.#database, [audited], this.#settings, this.#clocks, 'look-up').catch(
      () => undefined,
    );
    return answers?.[0] ?? this.#unavailable(submission);
  }

  #unavailable(submission: Submission): Answer {
    return this.#answer(submission, refuse('service_unavailable', { retryAfterSeconds }));
  }

  #answer({ context }: Submission, refusal: Refusal): Answer {
    return refusalAnswer(refusal, context.requestId, this.#settings.docsUrl());
  }
}

async function traced(answer: Promise<Answer>, span: CommandSpan): Promise<Answer> {
  const given = await answer;
  span.end(given.isReplay ? 'replayed' : (given.code ?? 'accepted'));
  return given;
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
