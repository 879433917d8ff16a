import { formatId } from '../kernel/ids.ts';
import { limits } from '../kernel/limits.ts';
import type { Instant } from '../kernel/table.ts';
import { acceptingCases } from './accepting.ts';
import {
  type Bench,
  type Exchange,
  type Patience,
  type SendingCase,
  statusOf,
  type Verdict,
  type WatchingCase,
} from './case.ts';
import { type ExampleEvent, Forge } from './forge.ts';
import { gradeOf, scoreOf, statusOf as standingOf } from './grade.ts';
import { plainReason, receivedWords } from './judge.ts';
import { refusingCases } from './refusing.ts';
import {
  type AttemptShown,
  type CaseName,
  type CaseReport,
  caseNames,
  caseWords,
  type ExaminationReport,
} from './schema.ts';
import type { Send } from './transport.ts';
import { watchingCases } from './watching.ts';

export interface Examination {
  readonly url: string;
  /** Those that sign for the endpoint, the newest first. */
  readonly secrets: readonly string[];
  readonly event: ExampleEvent;
  /** All of them unless told. The first one is always tried: without it the others mean nothing. */
  readonly cases?: readonly CaseName[] | undefined;
  readonly send: Send;
  readonly newSuffix: () => string;
  /** A secret that the receiver does not have. */
  readonly strangeSecret: string;
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
  readonly patience: Patience;
}

const usual: Bounds = {
  overallMs: limits.examinationMsMax,
  requestMs: limits.webhookTimeoutMs,
  patience: { good: 2_000, max: 5_000 },
};

const sending: Readonly<Partial<Record<CaseName, SendingCase>>> = { ...acceptingCases, ...refusingCases };
const watching: Readonly<Partial<Record<CaseName, WatchingCase>>> = watchingCases;

/** Faster than this, a receiver is asked one thing at a time, so that no answer is the fault of another case. */
const quickMs = 500;
const lanesOfSlow = 4;
/** With less time than this left nothing is begun. */
const startMsMin = 1_000;

/** The time is over, or somebody stopped it: what was under way says nothing about the receiver. */
class CutShort extends Error {}

/**
 * Examines a receiver: a correctly signed event first, then every other case, the crowd last because it may break
 * something. It ends early, with a sentence and without further verdicts, when the receiver does not take the first
 * event, when it stops answering on the way, and when the time is over.
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
  readonly #bench: Bench;
  #isCrowded = false;
  #message: string | null = null;

  constructor(examination: Examination) {
    this.#examination = examination;
    this.#bounds = { ...usual, ...examination.bounds };
    this.#id = formatId('examination', examination.newSuffix());
    const forge = new Forge({ ...examination, examinationId: this.#id });
    this.#bench = { forge, ask: (message) => this.#ask(message) };
  }

  async run(): Promise<ExaminationReport> {
    const { cases = caseNames } = this.#examination;
    const wanted = caseNames.filter((name) => name === 'valid_signature' || cases.includes(name));
    await this.#try('valid_signature');
    const [first] = this.#exchanges;
    if (this.#reports.get('valid_signature')?.outcome === 'failed') this.#message ??= notTaken(first);
    const isQuick = (first?.answer.durationMs ?? 0) < quickMs;
    const others = wanted.filter((name) => name !== 'valid_signature' && name !== 'burst' && sending[name]);
    await this.#inLanes(others, isQuick ? 1 : lanesOfSlow);
    if (wanted.includes('burst')) await this.#inLanes(['burst'], lanesOfSlow);
    if (this.#message === null) for (const name of wanted) this.#watch(name);
    return this.#report(wanted);
  }

  async #inLanes(names: readonly CaseName[], lanes: number): Promise<void> {
    const left = [...names];
    this.#isCrowded = lanes > 1;
    const lane = async () => {
      for (let name = left.shift(); name !== undefined && this.#message === null; name = left.shift())
        await this.#try(name);
    };
    await Promise.all(Array.from({ length: lanes }, lane));
  }

  async #try(name: CaseName): Promise<void> {
    const one = sending[name];
    if (!one) return;
    try {
      const exchanges = await one.run(this.#bench);
      const verdict = one.judge(exchanges);
      const isGone = name !== 'valid_signature' && exchanges.some(isUnanswered) && !(await this.#isThere());
      this.#keep(name, one, exchanges, isGone ? broken : verdict);
      if (isGone)
        this.#message ??= `The receiver stopped answering during \`${name}\`, so what was left was not tried. Start it again and mend that first.`;
    } catch (error) {
      if (!(error instanceof CutShort)) throw error;
    }
  }

  /** After a request without an answer: whether the receiver still takes a good event. */
  async #isThere(): Promise<boolean> {
    return !isUnanswered(await this.#ask(this.#bench.forge.message()));
  }

  #watch(name: CaseName): void {
    const one = watching[name];
    if (!one) return;
    const found = one.watch(this.#exchanges, this.#bench, this.#bounds.patience);
    this.#keep(name, one, found, one.judge(found, this.#bench, this.#bounds.patience));
  }

  #keep(
    name: CaseName,
    { why, expected }: Pick<SendingCase, 'why' | 'expected'>,
    exchanges: readonly Exchange[],
    { outcome, advice, example, received = receivedWords(exchanges) }: Verdict,
  ): void {
    const attempts = exchanges.map(shownAttempt);
    const words = { name, ...caseWords[name], why, expected };
    this.#reports.set(name, { ...words, received, outcome, attempts, advice, example });
  }

  async #ask(message: Parameters<Bench['ask']>[0]): Promise<Exchange> {
    const { signal, send } = this.#examination;
    const leftMs = this.#bounds.overallMs - this.#tookMs();
    if (signal?.aborted || leftMs < Math.min(startMsMin, this.#bounds.overallMs / 2)) throw this.#cut();
    const isCrowded = this.#isCrowded;
    const { method = 'POST', headers, body, dribble } = message;
    const answer = await send({
      ...{ method, headers, body },
      ...(dribble && { dribble }),
      ...(signal && { signal }),
      timeoutMs: Math.min(this.#bounds.requestMs, leftMs),
    });
    const isOver = this.#tookMs() >= this.#bounds.overallMs || signal?.aborted;
    if (!('status' in answer) && isOver) throw this.#cut();
    const exchange = { message, answer, isCrowded };
    this.#exchanges.push(exchange);
    return exchange;
  }

  #cut(): CutShort {
    this.#message ??= this.#examination.signal?.aborted
      ? 'The examination was stopped before its end.'
      : `The time of ${this.#bounds.overallMs / 1_000} seconds was over before every case was tried, because the answers took so long. Mend that first, or choose fewer cases.`;
    return new CutShort();
  }

  #tookMs(): number {
    return Math.round(performance.now() - this.#startedAt);
  }

  #report(wanted: readonly CaseName[]): ExaminationReport {
    const cases = caseNames.flatMap((name) => this.#reports.get(name) ?? []);
    const complete = cases.length === wanted.length;
    // Without a single verdict there is nothing to be said for it.
    const grade = cases.length === 0 ? 'F' : gradeOf(cases);
    return {
      id: this.#id,
      url: this.#examination.url,
      eventType: this.#examination.event.type,
      status: standingOf(grade, complete),
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
    'After this the receiver did not answer at all any more, not even to a good event. An error that nothing catches ends many servers: anybody can send you such a request. Look at the end of its log.',
  example: "process.on('unhandledRejection', (error) => log.error(error)); // and catch it where it happens",
};

function isUnanswered({ answer }: Exchange): boolean {
  return !('status' in answer);
}

function notTaken(first: Exchange | undefined): string {
  const rest =
    'Nothing else was tried: as long as it does not take a good event, its other answers say nothing.';
  if (!first) return rest;
  if (isUnanswered(first)) return `${plainReason(first)} ${rest}`;
  return `The receiver answered ${statusOf(first.answer)} to a correctly signed event. ${rest}`;
}

function shownAttempt({ answer }: Exchange): AttemptShown {
  return {
    responseStatus: statusOf(answer),
    durationMs: answer.durationMs ?? 0,
    error: 'error' in answer ? answer.error : null,
  };
}
