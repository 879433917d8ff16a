import { Readable } from 'node:stream';
import type { Sender } from '../delivery/sender.ts';
import { belongsTo, newWebhookSecret, openSecrets } from '../delivery/signature.ts';
import type { Engine } from '../engine/engine.ts';
import type { Answer, Submission } from '../engine/submission.ts';
import type { Vault } from '../engine/vault.ts';
import { examine } from '../examiner/examination.ts';
import type { CaseName, ExaminationReport } from '../examiner/schema.ts';
import { dribbled, type Send } from '../examiner/transport.ts';
import type { EventType } from '../kernel/event.ts';
import type { Instant } from '../kernel/table.ts';
import {
  beginExamination,
  type ConcludeExamination,
  concludeExamination,
} from '../resources/webhooks/examination-commands.ts';
import type { WebhookRow } from '../resources/webhooks/table.ts';

export interface ExaminationsSettings {
  readonly engine: Engine;
  readonly vault: Vault;
  readonly sender: Sender;
  readonly catalogue: readonly Pick<EventType, 'type' | 'example'>[];
  readonly wallClock: () => Instant;
  /** For signatures and their age; see attempt.ts. */
  readonly realTime: () => Instant;
}

interface Asked {
  readonly id: string;
  readonly cases?: readonly CaseName[];
  readonly eventType?: string;
}

const usualType = 'payment.created';
/** An examination sends about 60 requests, 20 of them at once. */
const runningMax = 20;
const runningPerOrganizationMax = 4;

/**
 * Examines receivers, an endpoint by one request at a time: what one run does to a receiver would be found by the other.
 * Nodes do not know of each other's runs; every run has events of its own, so two of them do no harm but to each other's verdicts.
 */
export class Examinations {
  readonly #settings: ExaminationsSettings;
  readonly #running = new Set<string>();
  readonly #stopped = new AbortController();

  constructor(settings: ExaminationsSettings) {
    this.#settings = settings;
  }

  /** Those under way end where they are, and say so. */
  stop(): void {
    this.#stopped.abort();
  }

  /** The request to examine an endpoint, from its first command to its last. */
  async examine(submission: Submission): Promise<Answer> {
    const { engine } = this.#settings;
    const asked = submission.input as Asked;
    const place = `${submission.context.orgId} ${asked.id}`;
    const isRunning = this.#running.has(place);
    const isBusy = !isRunning && this.#isBusy(submission.context.orgId);
    if (!isRunning && !isBusy) this.#running.add(place);
    try {
      const begin = { ...submission, kind: beginExamination, input: { id: asked.id, isRunning, isBusy } };
      const begun = await engine.submit(begin);
      if (begun.code !== null || begun.isReplay) return begun;
      const { begun: found } = JSON.parse(begun.body) as { begun: { webhook: WebhookRow } };
      // Every command has a row of its own in the audit trail, whichever request it belongs to.
      const { next } = engine.idGenerator.stepSuffixes(submission.context.suffix);
      const context = { ...submission.context, suffix: next() };
      const report = await this.#run(found.webhook, asked, next);
      const input: ConcludeExamination = {
        webhookId: asked.id,
        shown: { object: 'examination', sandbox: true, webhookId: asked.id, ...report },
      };
      return await engine.submit({ ...submission, kind: concludeExamination, input, context });
    } finally {
      if (!isRunning && !isBusy) this.#running.delete(place);
    }
  }

  #isBusy(orgId: string): boolean {
    const own = [...this.#running].filter((place) => place.startsWith(`${orgId} `)).length;
    return own >= runningPerOrganizationMax || this.#running.size >= runningMax;
  }

  #run(
    webhook: WebhookRow,
    { cases, eventType }: Asked,
    newSuffix: () => string,
  ): Promise<ExaminationReport> {
    const { vault, wallClock, realTime } = this.#settings;
    const { url, orgId, id } = webhook;
    const secrets = openSecrets(vault, webhook.secrets, belongsTo(orgId, id), wallClock());
    return examine({
      ...{ url, cases, wallClock, realTime, newSuffix },
      secrets: secrets ?? [],
      event: this.#eventFor(webhook, eventType),
      send: secrets ? this.#sendTo(url) : unsigned,
      strangeSecret: newWebhookSecret(),
      signal: this.#stopped.signal,
    });
  }

  /** An example of the type that was asked for; else one that the endpoint wants, so that it is no stranger to its receiver. */
  #eventFor({ eventTypes }: WebhookRow, asked: string | undefined) {
    const { catalogue } = this.#settings;
    const wants = (type: string) =>
      eventTypes.some((filter) => filter === '*' || filter === type || filter === `${type.split('.')[0]}.*`);
    const type =
      asked ?? (wants(usualType) ? usualType : catalogue.find((one) => wants(one.type))?.type) ?? usualType;
    const example = catalogue.find((one) => one.type === type)?.example;
    if (!example) throw new Error(`there is no example of ${type}`);
    return { type, data: example };
  }

  #sendTo(url: string): Send {
    const { sender, realTime } = this.#settings;
    return async ({ method, headers, body, dribble, timeoutMs, signal }) => {
      const length = { 'content-length': String(Buffer.byteLength(body)) };
      const outcome = await sender.send(url, { ...headers, ...(dribble && length) }, pieces(), realTime, {
        ...{ method, timeoutMs, isAlone: true },
        ...(signal && { signal }),
      });
      if (!outcome) return { error: 'The server is shutting down.' };
      const { responseStatus, responseBody, durationMs, error } = outcome;
      if (responseStatus === null) return { error: error ?? 'No answer came.', durationMs };
      return { status: responseStatus, durationMs, body: responseBody ?? '' };

      function pieces() {
        if (method === 'GET') return null;
        return dribble ? Readable.from(dribbled(body, dribble), { objectMode: false }) : body;
      }
    };
  }
}

const unsigned: Send = async () => ({
  error: 'Signature: the secret of the endpoint was encrypted with another SANDBANK_SECRET. Rotate it.',
});
