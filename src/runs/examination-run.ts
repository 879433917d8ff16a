import { Readable } from 'node:stream';
import { openHeaders } from '../delivery/custom-headers.ts';
import type { ReceiverAddress, Sender } from '../delivery/sender.ts';
import { belongsTo, newWebhookSecret, openSecrets } from '../delivery/signature.ts';
import type { Engine } from '../engine/engine.ts';
import type { ExaminationJournal } from '../engine/examination-journal.ts';
import type { Vault } from '../engine/vault.ts';
import { examine } from '../examiner/examination.ts';
import { caseNames, type ExaminationReport } from '../examiner/schema.ts';
import { dribbled, type Send } from '../examiner/transport.ts';
import { attemptError } from '../kernel/attempt-errors.ts';
import type { Answer, CommandRequest } from '../kernel/command.ts';
import { type EventType, matchesEventFilter } from '../kernel/event.ts';
import type { Runs } from '../kernel/prepare.ts';
import type { Instant } from '../kernel/table.ts';
import {
  type BeginExamination,
  beginExamination,
  concludeExamination,
} from '../resources/webhooks/examination-commands.ts';
import type { WebhookRow } from '../resources/webhooks/table.ts';
import { begunWith, drive, type Run } from './run.ts';

export interface ExaminationsSettings {
  readonly engine: Engine;
  readonly vault: Vault;
  readonly sender: Sender;
  /** Stores the reports, so that they can be read again. */
  readonly journal: Pick<ExaminationJournal, 'write'>;
  readonly catalogue: readonly Pick<EventType, 'type' | 'example'>[];
  readonly wallClock: () => Instant;
  /** For signatures and their age; see attempt.ts. */
  readonly realTime: () => Instant;
}

type Requested = Parameters<Runs['examineWebhook']>[0];

interface Begun {
  readonly webhook: WebhookRow;
  /** For the last command: every command has its own row in the audit trail. */
  readonly suffix: string;
  readonly next: () => string;
}

const defaultType = 'payment.created';
/** An examination sends about 60 requests, 20 of them at once. */
const runningMax = 20;
const runningPerOrganizationMax = 4;

/**
 * Examines receivers. Only one request at a time may examine an endpoint, because concurrent runs affect each other's results. Nodes
 * do not coordinate their runs. Each run has its own events, so concurrent runs can only distort each other's results.
 */
export class Examinations {
  readonly #settings: ExaminationsSettings;
  readonly #running = new Set<string>();
  readonly #stopped = new AbortController();

  constructor(settings: ExaminationsSettings) {
    this.#settings = settings;
  }

  /** Running examinations stop and report that. */
  stop(): void {
    this.#stopped.abort();
  }

  /** Runs a request to examine an endpoint, from its first command to its last. */
  async examine(requested: Requested, request: CommandRequest): Promise<Answer> {
    const { orgId } = request.context;
    const key = `${orgId} ${requested.id}`;
    const isRunning = this.#running.has(key);
    const isBusy = !isRunning && this.#isBusy(orgId);
    if (!isRunning && !isBusy) this.#running.add(key);
    try {
      return await drive(this.#examination({ id: requested.id, isRunning, isBusy }, requested, request));
    } finally {
      if (!isRunning && !isBusy) this.#running.delete(key);
    }
  }

  #examination(
    input: BeginExamination,
    requested: Requested,
    request: CommandRequest,
  ): Run<Begun, Begun & { readonly report: ExaminationReport }> {
    const { engine, journal, wallClock } = this.#settings;
    return {
      begin: async () =>
        begunWith(await engine.submit({ ...request, kind: beginExamination, input }), ({ webhook }) => {
          const { next } = engine.idGenerator.stepSuffixes(request.context.suffix);
          return { webhook, suffix: next(), next };
        }),
      step: async (begun) => ({
        value: { ...begun, report: await this.#run(begun.webhook, requested, begun.next) },
      }),
      finish: async ({ suffix, report }) => {
        const { id: webhookId } = requested;
        const { orgId } = request.context;
        await journal.write({ orgId, webhookId, id: report.id, at: wallClock(), report });
        const shown = { object: 'examination', sandbox: true, webhookId, ...report } as const;
        const context = { ...request.context, suffix };
        return engine.submit({ ...request, kind: concludeExamination, input: { webhookId, shown }, context });
      },
    };
  }

  #isBusy(orgId: string): boolean {
    const runningInOrganization = [...this.#running].filter((key) => key.startsWith(`${orgId} `)).length;
    return runningInOrganization >= runningPerOrganizationMax || this.#running.size >= runningMax;
  }

  #run(
    webhook: WebhookRow,
    { cases: names, eventType }: Requested,
    newSuffix: () => string,
  ): Promise<ExaminationReport> {
    const { vault, wallClock, realTime } = this.#settings;
    const { url, orgId, id, inbox } = webhook;
    const custom = openHeaders(vault, webhook.headers, orgId, id);
    const cases = names && caseNames.filter((name) => names.includes(name));
    const secrets = openSecrets(vault, webhook.secrets, belongsTo(orgId, id), wallClock());
    return examine({
      ...{ url, cases, wallClock, realTime, newSuffix },
      secrets: secrets ?? [],
      event: this.#eventFor(webhook, eventType),
      send:
        secrets && custom ? this.#sendTo({ url, webhookId: id, isInbox: inbox !== null }, custom) : unsigned,
      unknownSecret: newWebhookSecret(),
      signal: this.#stopped.signal,
    });
  }

  /** An example of the requested type; by default one that the endpoint subscribes to, so that its receiver supports it. */
  #eventFor({ eventTypes }: WebhookRow, requestedType: string | undefined) {
    const { catalogue } = this.#settings;
    const wants = (type: string) => matchesEventFilter(eventTypes, type);
    const type =
      requestedType ??
      (wants(defaultType) ? defaultType : catalogue.find((one) => wants(one.type))?.type) ??
      defaultType;
    const example = catalogue.find((one) => one.type === type)?.example;
    if (!example) throw new Error(`event type ${type} has no example`);
    return { type, data: example };
  }

  /** The receiver may require the custom headers of its endpoint. */
  #sendTo(receiver: ReceiverAddress, custom: Readonly<Record<string, string>>): Send {
    const { sender, realTime } = this.#settings;
    return async ({ method, headers, body, dribble, timeoutMs, signal }) => {
      const length = { 'content-length': String(Buffer.byteLength(body)) };
      const outcome = await sender.send(
        receiver,
        { ...custom, ...headers, ...(dribble && length) },
        pieces(),
        realTime,
        {
          ...{ method, timeoutMs, closesConnection: true },
          ...(signal && { signal }),
        },
      );
      if (!outcome) return { error: 'The server is shutting down.' };
      const { responseStatus, responseBody, durationMs, error } = outcome;
      if (responseStatus === null) return { error: error ?? 'No response was received.', durationMs };
      return { status: responseStatus, durationMs, body: responseBody ?? '' };

      function pieces() {
        if (method === 'GET') return null;
        return dribble ? Readable.from(dribbled(body, dribble), { objectMode: false }) : body;
      }
    };
  }
}

const unsigned: Send = async () => ({
  error: attemptError(
    'signature',
    'the endpoint secret was encrypted with another SANDBANK_SECRET. Rotate it.',
  ),
});
