import { formatId } from '../kernel/ids.ts';
import { limits } from '../kernel/limits.ts';
import type { Instant } from '../kernel/table.ts';
import { acceptCases } from './accept-cases.ts';
import {
  type ActiveCase,
  type Exchange,
  type LatencyThresholds,
  type PassiveCase,
  statusOf,
  type TestContext,
  type Verdict,
} from './case.ts';
import { statusOf as examinationStatusOf, gradeOf, scoreOf } from './grade.ts';
import { plainReason, receivedSummary } from './judge.ts';
import { passiveCases } from './passive-cases.ts';
import { rejectCases } from './reject-cases.ts';
import { type ExampleEvent, RequestFactory } from './request-factory.ts';
import {
  type AttemptView,
  type CaseName,
  type CaseReport,
  caseDescriptions,
  caseNames,
  type ExaminationReport,
} from './schema.ts';
import type { Send } from './transport.ts';

export interface Examination {
  readonly url: string;
  /** The endpoint's signing secrets, the newest first. */
  readonly secrets: readonly string[];
  readonly event: ExampleEvent;
  /** Default: all. `valid_signature` always runs, because the other results mean nothing without it. */
  readonly cases?: readonly CaseName[] | undefined;
  readonly send: Send;
  readonly newSuffix: () => string;
  /** A secret that the receiver does not have. */
  readonly unknownSecret: string;
  /** For payloads. */
  readonly wallClock: () => Instant;
  /** For signatures. */
  readonly realTime: () => Instant;
  readonly signal?: AbortSignal;
  readonly bounds?: Partial<Bounds>;
}

export interface Bounds {
  readonly overallMs: number;
  readonly requestMs: number;
  readonly latency: LatencyThresholds;
}

const defaultBounds: Bounds = {
  overallMs: limits.examinationMsMax,
  requestMs: limits.webhookTimeoutMs,
  latency: { good: 2_000, max: 5_000 },
};

const activeCasesByName: Readonly<Partial<Record<CaseName, ActiveCase>>> = { ...acceptCases, ...rejectCases };
const passiveCasesByName: Readonly<Partial<Record<CaseName, PassiveCase>>> = passiveCases;

/** For a receiver that responds faster than this, cases run one at a time, so that they do not affect each other. */
const quickMs = 500;
const slowConcurrency = 4;
/** With less time left than this, no further request starts. */
const startMsMin = 1_000;

/** Time limit reached, or the caller aborted: in-flight requests say nothing about the receiver. */
class Interrupted extends Error {}

/**
 * Examines a receiver: a correctly signed event first, then the other cases, the burst last because it may bring the
 * receiver down. It ends early, with a `message` and without further verdicts, when the receiver rejects the first
 * event, when it stops responding, and when the time limit is reached.
 */
export async function examine(examination: Examination): Promise<ExaminationReport> {
  return new Examiner(examination).run();
}

class Examiner {
  readonly #examination: Examination;
  readonly #bounds: Bounds;
  readonly #id: string;
  readonly #startedAt = performance.now();
  readonly #exchanges: Exchange[] = [];
  readonly #reports = new Map<CaseName, CaseReport>();
  readonly #context: TestContext;
  #isConcurrent = false;
  #message: string | null = null;

  constructor(examination: Examination) {
    this.#examination = examination;
    this.#bounds = { ...defaultBounds, ...examination.bounds };
    this.#id = formatId('examination', examination.newSuffix());
    const factory = new RequestFactory({ ...examination, examinationId: this.#id });
    this.#context = { factory, send: (message) => this.#send(message) };
  }

  async run(): Promise<ExaminationReport> {
    const { cases = caseNames } = this.#examination;
    const wanted = caseNames.filter((name) => name === 'valid_signature' || cases.includes(name));
    await this.#runCase('valid_signature');
    const [first] = this.#exchanges;
    if (this.#reports.get('valid_signature')?.outcome === 'failed') this.#message ??= rejectedMessage(first);
    const isQuick = (first?.answer.durationMs ?? 0) < quickMs;
    const others = wanted.filter(
      (name) => name !== 'valid_signature' && name !== 'burst' && activeCasesByName[name],
    );
    await this.#runConcurrently(others, isQuick ? 1 : slowConcurrency);
    if (wanted.includes('burst')) await this.#runConcurrently(['burst'], slowConcurrency);
    if (this.#message === null) for (const name of wanted) this.#evaluatePassive(name);
    return this.#report(wanted);
  }

  async #runConcurrently(names: readonly CaseName[], concurrency: number): Promise<void> {
    const left = [...names];
    this.#isConcurrent = concurrency > 1;
    const worker = async () => {
      for (let name = left.shift(); name !== undefined && this.#message === null; name = left.shift())
        await this.#runCase(name);
    };
    await Promise.all(Array.from({ length: concurrency }, worker));
  }

  async #runCase(name: CaseName): Promise<void> {
    const one = activeCasesByName[name];
    if (!one) return;
    try {
      const exchanges = await one.run(this.#context);
      const verdict = one.judge(exchanges);
      const isGone =
        name !== 'valid_signature' && exchanges.some(isUnanswered) && !(await this.#isReachable());
      this.#record(name, one, exchanges, isGone ? broken : verdict);
      if (isGone)
        this.#message ??= `The receiver stopped answering during \`${name}\`, so the remaining cases did not run. Restart it and fix this first.`;
    } catch (error) {
      if (!(error instanceof Interrupted)) throw error;
    }
  }

  /** After a request without a response: whether the receiver still responds to a valid event. */
  async #isReachable(): Promise<boolean> {
    return !isUnanswered(await this.#send(this.#context.factory.message()));
  }

  #evaluatePassive(name: CaseName): void {
    const one = passiveCasesByName[name];
    if (!one) return;
    const found = one.select(this.#exchanges, this.#context, this.#bounds.latency);
    this.#record(name, one, found, one.judge(found, this.#context, this.#bounds.latency));
  }

  #record(
    name: CaseName,
    { why, expected }: Pick<ActiveCase, 'why' | 'expected'>,
    exchanges: readonly Exchange[],
    { outcome, advice, example, received = receivedSummary(exchanges) }: Verdict,
  ): void {
    const attempts = exchanges.map(attemptView);
    const description = { name, ...caseDescriptions[name], why, expected };
    this.#reports.set(name, { ...description, received, outcome, attempts, advice, example });
  }

  async #send(message: Parameters<TestContext['send']>[0]): Promise<Exchange> {
    const { signal, send } = this.#examination;
    const leftMs = this.#bounds.overallMs - this.#tookMs();
    if (signal?.aborted || leftMs < Math.min(startMsMin, this.#bounds.overallMs / 2))
      throw this.#interrupted();
    const isConcurrent = this.#isConcurrent;
    const { method = 'POST', headers, body, dribble } = message;
    const answer = await send({
      ...{ method, headers, body },
      ...(dribble && { dribble }),
      ...(signal && { signal }),
      timeoutMs: Math.min(this.#bounds.requestMs, leftMs),
    });
    const isOver = this.#tookMs() >= this.#bounds.overallMs || signal?.aborted;
    if (!('status' in answer) && isOver) throw this.#interrupted();
    const exchange = { message, answer, isConcurrent };
    this.#exchanges.push(exchange);
    return exchange;
  }

  #interrupted(): Interrupted {
    this.#message ??= this.#examination.signal?.aborted
      ? 'The examination was stopped before it finished.'
      : `The limit of ${this.#bounds.overallMs / 1_000} seconds was reached before every case ran, because the responses took too long. Make the receiver respond faster, or choose fewer cases.`;
    return new Interrupted();
  }

  #tookMs(): number {
    return Math.round(performance.now() - this.#startedAt);
  }

  #report(wanted: readonly CaseName[]): ExaminationReport {
    const cases = caseNames.flatMap((name) => this.#reports.get(name) ?? []);
    const complete = cases.length === wanted.length;
    // Without a single verdict the grade is the lowest.
    const grade = cases.length === 0 ? 'F' : gradeOf(cases);
    return {
      id: this.#id,
      url: this.#examination.url,
      eventType: this.#examination.event.type,
      status: examinationStatusOf(grade, complete),
      grade,
      score: scoreOf(cases),
      complete,
      message: this.#message,
      durationMs: this.#tookMs(),
      cases,
    };
  }
}

const broken: Verdict = {
  outcome: 'failed',
  advice:
    'After this request the receiver stopped responding, even to a valid event. An uncaught error ends many servers, and anybody can send you such a request. Check the end of its log.',
  example: "process.on('unhandledRejection', (error) => log.error(error)); // and catch it where it happens",
};

function isUnanswered({ answer }: Exchange): boolean {
  return !('status' in answer);
}

function rejectedMessage(first: Exchange | undefined): string {
  const rest =
    'No other case ran: until the receiver accepts a valid event, its other responses mean nothing.';
  if (!first) return rest;
  if (isUnanswered(first)) return `${plainReason(first)} ${rest}`;
  return `The receiver answered ${statusOf(first.answer)} to a correctly signed event. ${rest}`;
}

function attemptView({ answer }: Exchange): AttemptView {
  return {
    responseStatus: statusOf(answer),
    durationMs: answer.durationMs ?? 0,
    error: 'error' in answer ? answer.error : null,
  };
}
