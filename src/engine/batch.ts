import type { Connection, Database } from '../db/database.ts';
import { assert } from '../kernel/assert.ts';
import type {
  Accepted,
  Answer,
  AnyResource,
  Change,
  CommandContext,
  Decision,
  Erased,
  Rendered,
  Submission,
} from '../kernel/command.ts';
import { successStatus, withFields, withRequestId } from '../kernel/envelope.ts';
import { isStored, type Refusal, refuse } from '../kernel/errors.ts';
import { formatId, type Id } from '../kernel/ids.ts';
import { newDelivery } from '../resources/webhooks/delivery-table.ts';
import { pendingStatus, responseRow } from './answers.ts';
import { BatchClocks } from './batch-clocks.ts';
import { BatchPriors, isDead, type Prior } from './batch-priors.ts';
import type { BatchSettings, Priors } from './batch-settings.ts';
import { BatchTrail } from './batch-trail.ts';
import { type Cleared, clearOrganization, holdOrganizations, takeOrganization } from './clearing.ts';
import { removeOrganization } from './deletion.ts';
import {
  auditRow,
  eventRow,
  historyRow,
  ledgerEntryRows,
  providerEventRows,
  settlementLineRows,
} from './derive.ts';
import type { KnownClocks } from './known-clocks.ts';
import { persist } from './persist.ts';
import { bodyWithSecrets, replayedBody, sealFor } from './response-secrets.ts';
import { refusalAnswer } from './submission.ts';
import { WorkingSet } from './working-set.ts';

/**
 * One batch, from loading to the commit: load -> decide -> persist -> answer. It is one transaction: an explicit one if it
 * takes locks, otherwise the implicit transaction of its single write statement.
 *
 * With `trust-none` the batch does not query stored responses. That is safe: the primary key of `idempotency` rejects a key that
 * was used before, and the whole batch then fails with a conflict. Undefined means that the batch cannot rely on that: a command
 * stores no response, so nothing would detect a reused key.
 */
export async function runBatch(
  database: Database,
  submissions: readonly Submission[],
  settings: BatchSettings,
  clocks: KnownClocks,
  priors: Priors,
): Promise<readonly Answer<Erased>[] | undefined> {
  const rows = new WorkingSet(settings.resources);
  const batch = new Batch(submissions, rows, settings, clocks);
  batch.declare(priors);
  const needsNoLocks = rows.isEmpty && !submissions.some(({ kind }) => kind.clears || kind.replaysEvents);
  return needsNoLocks
    ? batch.run(database, priors)
    : database.transaction((connection) => batch.runLocked(connection, priors));
}

class Batch {
  readonly #submissions: readonly Submission[];
  readonly #rows: WorkingSet;
  readonly #settings: BatchSettings;
  readonly #priors = new BatchPriors();
  readonly #trail = new BatchTrail();
  readonly #clocks: BatchClocks;
  #cleared: Cleared | undefined;
  readonly #bugs: { readonly error: unknown; readonly requestId: string }[] = [];

  constructor(
    submissions: readonly Submission[],
    rows: WorkingSet,
    settings: BatchSettings,
    clocks: KnownClocks,
  ) {
    this.#submissions = submissions;
    this.#rows = rows;
    this.#settings = settings;
    this.#clocks = new BatchClocks(clocks, rows);
  }

  declare(priors: Priors): void {
    for (const submission of this.#submissions) {
      this.#rows.declare(submission);
      this.#clocks.declare(submission, priors === 'trust-none');
    }
  }

  /**
   * Locks the organizations before the first read, so that the rows still exist when the batch writes. The lock is not awaited:
   * it is sent together with the statements that follow. If it fails, they fail too, and the lock error is the one to report.
   */
  async runLocked(connection: Connection, priors: Priors): Promise<readonly Answer<Erased>[] | undefined> {
    const orgId = this.#clearing?.context.orgId;
    const lock =
      orgId === undefined ? holdOrganizations(connection, this.#orgIds) : takeOrganization(connection, orgId);
    // Prevents an unhandled rejection; the catch block below reports the error.
    lock.catch(() => undefined);
    try {
      return await this.run(connection, priors);
    } catch (error) {
      await lock;
      throw error;
    }
  }

  async run(connection: Connection, priors: Priors): Promise<readonly Answer<Erased>[] | undefined> {
    const claims = this.#submissions.filter(({ idempotency }) => idempotency !== null);
    if (!this.#rows.isEmpty || priors === 'query') {
      await this.#rows.find(connection);
      // Sent after the locks, so it sees the response that the previous lock holder stored.
      const load = this.#rows.load(connection);
      const loadPriors = priors === 'query' ? this.#priors.load(connection, claims) : undefined;
      await Promise.all([load, loadPriors]);
      await this.#clocks.loadForeign(connection, this.#submissions);
    }
    if (this.#clearing) await this.#clear(connection, this.#clearing);
    const answers = this.#decideAll();
    if (priors === 'trust-none' && this.#trail.responses.length < claims.length) return undefined;
    return this.#finish(connection, answers);
  }

  get #orgIds(): readonly string[] {
    return this.#submissions.map(({ context }) => context.orgId);
  }

  /** The command that clears its organization. It is the only one in its batch. */
  get #clearing(): Submission | undefined {
    const [first] = this.#submissions;
    return first?.kind.clears ? first : undefined;
  }

  /** Decisions are pure: this one checks whether the command will be accepted, `#decideAll` decides again after the deletion. */
  async #clear(connection: Connection, submission: Submission): Promise<void> {
    if (this.#priors.get(submission) || !this.#authorizeAndDecide(submission).ok) return;
    const clockIds = this.#rows.all('clock').map(({ id }) => id);
    const { orgId } = submission.context;
    const resources = this.#settings.resources.values();
    const clear = () => clearOrganization(connection, orgId, resources, clockIds);
    this.#cleared = await (submission.kind.deletes ? removeOrganization(connection, orgId) : clear());
  }

  #decideAll(): readonly Answer<Erased>[] {
    return this.#submissions.map((submission) => this.#decide(submission));
  }

  async #finish(
    connection: Connection,
    answers: readonly Answer<Erased>[],
  ): Promise<readonly Answer<Erased>[]> {
    const writes = this.#trail.writes(this.#rows, this.#settings.resources.values());
    if (writes.length > 0) await persist(connection, writes, this.#clocks.decidedBy, this.#orgIds);
    this.#clocks.updateCache();
    const { changes, announced, events: allEvents, deliveries, audit } = this.#trail;
    const cleared = this.#cleared && this.#clearing ? this.#clearing.context.orgId : null;
    const deleted = this.#clearing?.kind.deletes ? cleared : null;
    this.#settings.onCommit?.({ changes, events: announced, allEvents, deliveries, audit, cleared, deleted });
    // Reported after the write, because a batch may be decided twice before it is written.
    for (const { error, requestId } of this.#bugs) this.#settings.onBug(error, requestId);
    return answers;
  }

  #decide(submission: Submission): Answer<Erased> {
    try {
      return this.#answer(submission);
    } catch (error) {
      // A bug in one command: only that command gets a 500.
      this.#bugs.push({ error, requestId: submission.context.requestId });
      return this.#render(submission, refuse('internal_error'));
    }
  }

  #answer(submission: Submission): Answer<Erased> {
    const forbidden = this.#authorize(submission);
    if (forbidden) return this.#audited(submission, forbidden);
    const prior = this.#priors.get(submission);
    const isPending = prior?.status === pendingStatus;
    if (prior && submission.idempotency && !(isPending && submission.kind.concludes)) {
      const isSame = Buffer.compare(prior.fingerprint, submission.idempotency.fingerprint) === 0;
      if (isSame && !isPending) return this.#replay(submission, prior);
      if (isSame && isDead(prior, submission)) return this.#run(submission);
      const param = 'Idempotency-Key';
      return this.#refused(
        submission,
        isSame
          ? refuse('idempotency_in_progress', { param, retryAfterSeconds: 1 })
          : refuse('idempotency_key_reused', { param }),
      );
    }
    return this.#run(submission);
  }

  #run(submission: Submission): Answer<Erased> {
    const decision = this.#authorizeAndDecide(submission);
    return decision.ok ? this.#accepted(submission, decision) : this.#refused(submission, decision);
  }

  #authorize(submission: Submission): Refusal | undefined {
    const { kind, input } = submission;
    if (!kind.authorize) return undefined;
    return kind.authorize(input, this.#context(submission), this.#rows.rowsFor(submission));
  }

  #authorizeAndDecide(submission: Submission): Decision<Erased> {
    const { kind, input } = submission;
    return (
      this.#authorize(submission) ??
      kind.decide(input, this.#context(submission), this.#rows.rowsFor(submission))
    );
  }

  #context(submission: Submission): CommandContext {
    const { context, wallNow } = submission;
    return { ...context, now: this.#clocks.nowFor(submission), wallNow };
  }

  #accepted(submission: Submission, accepted: Accepted<Erased>): Answer<Erased> {
    const fields = this.#cleared ? { ...accepted.fields, deleted: this.#cleared } : accepted.fields;
    const { changes, answer, isInterim, timed, events, deliveries, secrets, forgetsCoverage } = accepted;
    const { context, kind } = submission;
    assert(!secrets || kind.answersWithSecret, `${kind.name} returns a secret that it does not declare`);
    const viewOf = ({ resource, row, shown }: Accepted['answer']) =>
      shown ?? this.#resource(resource).present(row);
    const present = (record: Accepted['answer']) => JSON.stringify(viewOf(record));
    // Everything is built and rendered before anything is recorded: a failing command must not leave partial rows behind.
    const rendered = changes.map(present);
    const last = answer.shown ? -1 : changes.findLastIndex(({ row }) => row === answer.row);
    const json = rendered[last] ?? present(answer);
    const { providers, idGenerator } = this.#settings;
    const rowSuffix = idGenerator.rowSuffixes(context.suffix);
    const entries = changes.flatMap((change) => ledgerEntryRows(context, change, rowSuffix));
    const providerEvents = changes.flatMap((change) =>
      providerEventRows(context, change, providers, rowSuffix),
    );
    const lines = changes.flatMap((change) => settlementLineRows(context, change, providers, rowSuffix));
    const more = submission.expandsEntries
      ? { ...fields, ledgerEntries: entries.map(this.#settings.presentEntry) }
      : fields;
    const body = withRequestId(more ? withFields(json, more) : json, context.requestId);
    const complete = secrets ? bodyWithSecrets(viewOf(answer), more, secrets, context.requestId) : null;
    // From here on nothing may fail.
    const eventIds = changes.map((change, i) =>
      this.#record(submission, change, rendered[i] ?? '', rowSuffix),
    );
    this.#trail.entries.push(...entries);
    this.#trail.providerEvents.push(...providerEvents);
    this.#trail.settlementLines.push(...lines);
    for (const { resource, row } of timed ?? []) this.#rows.retime(resource, row);
    this.#trail.events.push(...(events ?? []));
    if (!kind.addressesEvents) this.#trail.announced.push(...(events ?? []));
    this.#trail.deliveries.push(...(deliveries ?? []).map(newDelivery));
    if (forgetsCoverage) this.#trail.forgotten.push({ orgId: context.orgId });
    this.#trail.audit.push(auditRow(submission, { resource: answer.resource, id: answer.row.id }, null));
    const response = { status: successStatus[kind.success], body };
    if (isInterim) this.#store(submission, { status: pendingStatus, body: '' });
    else this.#store(submission, response, complete, more ? null : eventIds[last]);
    return { ...response, body: complete ?? body, isReplay: false, code: null, result: accepted.result };
  }

  #record(
    { context }: Submission,
    change: Change,
    json: string,
    rowSuffix: () => string,
  ): Id<'event'> | null {
    this.#rows.apply(change, context.orgId);
    this.#trail.changes.push(change);
    const { requestId, suffix } = context;
    const emitsEvent = this.#resource(change.resource).emitsEvents && !change.emitsNoEvent;
    const appId = emitsEvent ? change.row.appId : undefined;
    // The first event shares its suffix with the request, which shows that their rows belong together.
    const eventId =
      appId === undefined ? null : formatId('event', this.#isFirstEvent(requestId) ? suffix : rowSuffix());
    this.#trail.history.push(historyRow(context, change, eventId));
    if (eventId === null || appId === undefined) return null;
    const event = eventRow(context, change, eventId, appId, json);
    this.#trail.events.push(event);
    this.#trail.announced.push(event);
    return eventId;
  }

  #isFirstEvent(requestId: string): boolean {
    return this.#trail.events.at(-1)?.requestId !== requestId;
  }

  #refused(submission: Submission, refusal: Refusal): Answer<Erased> {
    const answer = this.#audited(submission, refusal);
    if (isStored(refusal.code)) this.#store(submission, answer);
    return answer;
  }

  #audited(submission: Submission, refusal: Refusal): Answer<Erased> {
    this.#trail.audit.push(auditRow(submission, this.#rows.targetOf(submission), refusal.code));
    return this.#render(submission, refusal);
  }

  #render({ context }: Submission, refusal: Refusal): Answer<Erased> {
    return refusalAnswer(refusal, context.requestId, this.#settings.docsUrl());
  }

  /**
   * Stores a response for its key, in this transaction and for later commands of this batch. `complete` includes its secrets;
   * `eventId` is the event with the same record.
   */
  #store(
    submission: Submission,
    { status, body }: Rendered,
    complete: string | null = null,
    eventId: Id<'event'> | null = null,
  ): void {
    const row = responseRow(submission, { status, body }, eventId);
    if (row === null) return;
    const { orgId, appId, key, fingerprint, createdAt } = row;
    const sealedBody = complete === null ? null : sealFor(submission, complete, this.#settings.vault);
    const isConcluded = this.#priors.get(submission)?.status === pendingStatus;
    (isConcluded ? this.#trail.concluded : this.#trail.responses).push(row);
    if (sealedBody !== null) this.#trail.storedSecrets.push({ orgId, appId, key, sealedBody, createdAt });
    this.#priors.set(submission, { fingerprint, status, body, createdAt, sealedBody });
  }

  #replay(submission: Submission, prior: Prior): Answer<Erased> {
    const body = replayedBody(submission, prior, this.#settings.vault);
    return { status: prior.status, body, isReplay: true, code: null };
  }

  #resource(name: string): AnyResource {
    const resource = this.#settings.resources.get(name);
    if (!resource) throw new Error(`${name} is not a registered resource`);
    return resource;
  }
}
