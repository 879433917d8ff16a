import type { Connection, Database } from '../db/database.ts';
import { assert } from '../kernel/assert.ts';
import type { Accepted, AnyResource, Change, CommandContext, Decision } from '../kernel/command.ts';
import { type Presented, successStatus, withFields, withRequestId } from '../kernel/envelope.ts';
import { isStored, type Refusal, refuse } from '../kernel/errors.ts';
import type { EventRow } from '../kernel/event.ts';
import { formatId } from '../kernel/ids.ts';
import type { Provider } from '../kernel/provider.ts';
import type { AuditRow } from '../resources/audit/table.ts';
import type { LedgerEntryRow } from '../resources/ledger/table.ts';
import { type DeliveryRow, newDelivery } from '../resources/webhooks/delivery-table.ts';
import { pendingStatus } from './answers.ts';
import { BatchClocks } from './batch-clocks.ts';
import { BatchPriors, isDead, type Prior } from './batch-priors.ts';
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
import type { IdGenerator } from './id-generator.ts';
import type { KnownClocks } from './known-clocks.ts';
import { persist } from './persist.ts';
import { replayedBody, sealFor, withSecrets } from './response-secrets.ts';
import { type Answer, refusalAnswer, type Submission } from './submission.ts';
import type { Vault } from './vault.ts';
import { WorkingSet } from './working-set.ts';

export interface BatchSettings {
  readonly resources: ReadonlyMap<string, AnyResource>;
  readonly providers: ReadonlyMap<string, Provider>;
  /** How a ledger entry is shown in the answer that it was posted with. */
  readonly presentEntry: (row: LedgerEntryRow) => Presented;
  /** Where the errors page is; error bodies point there. */
  readonly docsUrl: () => string;
  readonly onBug: (error: unknown, requestId: string) => void;
  /** Encrypts the kept answers that show a secret. */
  readonly vault: Vault;
  readonly idGenerator: IdGenerator;
  /** What a batch has written, once it is committed. */
  readonly onCommit?: (committed: Committed) => void;
}

export interface Committed {
  readonly changes: readonly Change[];
  readonly events: readonly EventRow[];
  /** Those that go to endpoints of somebody's choice, too. */
  readonly allEvents: readonly EventRow[];
  readonly deliveries: readonly DeliveryRow[];
  readonly audit: readonly AuditRow[];
  /** The organization whose records are gone; when it is gone itself, also the second. */
  readonly cleared: string | null;
  readonly deleted: string | null;
}

/**
 * How a batch treats the answers kept for its keys: it looks them up, or trusts that there are none. With the same trust
 * it takes the clocks as this node knows them; else it reads and locks them.
 */
export type Priors = 'look-up' | 'trust-none';

/**
 * One batch, from loading to the commit: load -> decide -> persist -> answer. It is one transaction: with locks an
 * explicit one, without any the single writing statement, which is its own.
 *
 * With `trust-none` the look-up is left out. That is safe, because the primary key of the kept answers refuses a key that
 * was used before, and the batch then fails as a whole with a conflict. Undefined means that the trust does not carry: a
 * command keeps no answer, so nothing would notice its key.
 */
export async function runBatch(
  database: Database,
  submissions: readonly Submission[],
  settings: BatchSettings,
  clocks: KnownClocks,
  priors: Priors,
): Promise<readonly Answer[] | undefined> {
  const rows = new WorkingSet(settings.resources);
  const batch = new Batch(submissions, rows, settings, clocks);
  batch.declare(priors);
  const needsNothing = rows.isEmpty && !submissions.some(({ kind }) => kind.clears || kind.replaysEvents);
  return needsNothing
    ? batch.run(database, priors)
    : database.transaction((connection) => batch.runHeld(connection, priors));
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
   * With the organizations held from the first look on, so that what is read is still there when it is written. Not awaited: it
   * leaves together with what follows, and if it is not had, that is why all the rest fails.
   */
  async runHeld(connection: Connection, priors: Priors): Promise<readonly Answer[] | undefined> {
    const orgId = this.#clearing?.context.orgId;
    const held =
      orgId === undefined ? holdOrganizations(connection, this.#orgIds) : takeOrganization(connection, orgId);
    held.catch(() => undefined);
    try {
      return await this.run(connection, priors);
    } catch (error) {
      await held;
      throw error;
    }
  }

  async run(connection: Connection, priors: Priors): Promise<readonly Answer[] | undefined> {
    const claims = this.#submissions.filter(({ idempotency }) => idempotency !== null);
    if (!this.#rows.isEmpty || priors === 'look-up') {
      await this.#rows.find(connection);
      // Sent behind the locks: an answer that was kept by whoever had them is seen.
      const load = this.#rows.load(connection);
      const look = priors === 'look-up' ? this.#priors.load(connection, claims) : undefined;
      await Promise.all([load, look]);
      await this.#clocks.loadForeign(connection, this.#submissions);
    }
    if (this.#clearing) await this.#clear(connection, this.#clearing);
    const answers = this.#decideAll();
    if (priors === 'trust-none' && this.#trail.kept.length < claims.length) return undefined;
    return this.#finish(connection, answers);
  }

  get #orgIds(): readonly string[] {
    return this.#submissions.map(({ context }) => context.orgId);
  }

  /** The command that clears its organization. It is alone in its batch. */
  get #clearing(): Submission | undefined {
    const [first] = this.#submissions;
    return first?.kind.clears ? first : undefined;
  }

  /** Deciding is pure, so it is asked once whether it will be accepted, and decided again when all is gone. */
  async #clear(connection: Connection, submission: Submission): Promise<void> {
    if (this.#priors.get(submission) || !this.#ask(submission).ok) return;
    const clockIds = this.#rows.all('clock').map(({ id }) => id);
    const { orgId } = submission.context;
    const resources = this.#settings.resources.values();
    const clear = () => clearOrganization(connection, orgId, resources, clockIds);
    this.#cleared = await (submission.kind.deletes ? removeOrganization(connection, orgId) : clear());
  }

  #decideAll(): readonly Answer[] {
    return this.#submissions.map((submission) => this.#decide(submission));
  }

  async #finish(connection: Connection, answers: readonly Answer[]): Promise<readonly Answer[]> {
    const writes = this.#trail.writes(this.#rows, this.#settings.resources.values());
    if (writes.length > 0) await persist(connection, writes, this.#clocks.decidedBy, this.#orgIds);
    this.#clocks.remember();
    const { changes, announced, events: allEvents, deliveries, audit } = this.#trail;
    const cleared = this.#cleared && this.#clearing ? this.#clearing.context.orgId : null;
    const deleted = this.#clearing?.kind.deletes ? cleared : null;
    this.#settings.onCommit?.({ changes, events: announced, allEvents, deliveries, audit, cleared, deleted });
    // Reported at the end, because a batch may be decided twice before it is written once.
    for (const { error, requestId } of this.#bugs) this.#settings.onBug(error, requestId);
    return answers;
  }

  #decide(submission: Submission): Answer {
    try {
      return this.#answer(submission);
    } catch (error) {
      // A bug in one command: only that command is answered with 500.
      this.#bugs.push({ error, requestId: submission.context.requestId });
      return this.#render(submission, refuse('internal_error'));
    }
  }

  #answer(submission: Submission): Answer {
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

  #run(submission: Submission): Answer {
    const decision = this.#ask(submission);
    return decision.ok ? this.#accepted(submission, decision) : this.#refused(submission, decision);
  }

  #authorize(submission: Submission): Refusal | undefined {
    const { kind, input } = submission;
    return kind.authorize?.(input, this.#context(submission), this.#rows.rowsFor(submission));
  }

  #ask(submission: Submission): Decision {
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

  #accepted(submission: Submission, accepted: Accepted): Answer {
    const fields = this.#cleared ? { ...accepted.fields, deleted: this.#cleared } : accepted.fields;
    const { changes, answer, isInterim, timed, events, deliveries, secrets, forgetsCoverage } = accepted;
    const { context, kind } = submission;
    assert(!secrets || kind.answersWithSecret, `${kind.name} answers with a secret that it does not declare`);
    const present = ({ resource, row, shown }: Accepted['answer']) =>
      JSON.stringify(shown ?? this.#resource(resource).present(row));
    // All is made and shown before anything is recorded: what fails must not leave half of its command behind.
    const shown = changes.map(present);
    const last = answer.shown ? -1 : changes.findLastIndex(({ row }) => row === answer.row);
    const own = shown[last] ?? present(answer);
    const { providers, idGenerator } = this.#settings;
    const rowSuffix = idGenerator.rowSuffixes(context.suffix);
    const entries = changes.flatMap((change) => ledgerEntryRows(context, change, rowSuffix));
    const providerEvents = changes.flatMap((change) =>
      providerEventRows(context, change, providers, rowSuffix),
    );
    const settled = changes.flatMap((change) => settlementLineRows(context, change, providers, rowSuffix));
    const more = submission.expandsEntries
      ? { ...fields, ledgerEntries: entries.map(this.#settings.presentEntry) }
      : fields;
    const body = withRequestId(more ? withFields(own, more) : own, context.requestId);
    const complete = secrets ? withSecrets(body, secrets) : null;
    // From here it must succeed.
    changes.forEach((change, i) => {
      this.#record(submission, change, shown[i] ?? '', rowSuffix);
    });
    this.#trail.entries.push(...entries);
    this.#trail.providerEvents.push(...providerEvents);
    this.#trail.settlementLines.push(...settled);
    for (const { resource, row } of timed ?? []) this.#rows.retime(resource, row);
    this.#trail.events.push(...(events ?? []));
    if (!kind.addressesEvents) this.#trail.announced.push(...(events ?? []));
    this.#trail.deliveries.push(...(deliveries ?? []).map(newDelivery));
    if (forgetsCoverage) this.#trail.forgotten.push({ orgId: context.orgId });
    this.#trail.audit.push(auditRow(submission, { resource: answer.resource, id: answer.row.id }, null));
    const made: Answer = { status: successStatus[kind.success], body, isReplay: false, code: null };
    if (isInterim) this.#keep(submission, { ...made, status: pendingStatus, body: '' });
    else this.#keep(submission, made, complete);
    return complete === null ? made : { ...made, body: complete };
  }

  #record({ context }: Submission, change: Change, json: string, rowSuffix: () => string): void {
    this.#rows.apply(change, context.orgId);
    this.#trail.changes.push(change);
    const { requestId, suffix } = context;
    const isTold = this.#resource(change.resource).emitsEvents && !change.emitsNoEvent;
    const appId = isTold ? change.row.appId : undefined;
    // The first event shares its suffix with the request, so that the rows of one request can be providerEvents together.
    const eventId =
      appId === undefined ? null : formatId('event', this.#isFirstEvent(requestId) ? suffix : rowSuffix());
    this.#trail.history.push(historyRow(context, change, eventId));
    if (eventId === null || appId === undefined) return;
    const event = eventRow(context, change, eventId, appId, json);
    this.#trail.events.push(event);
    this.#trail.announced.push(event);
  }

  #isFirstEvent(requestId: string): boolean {
    return this.#trail.events.at(-1)?.requestId !== requestId;
  }

  #refused(submission: Submission, refusal: Refusal): Answer {
    const answer = this.#audited(submission, refusal);
    if (isStored(refusal.code)) this.#keep(submission, answer);
    return answer;
  }

  #audited(submission: Submission, refusal: Refusal): Answer {
    this.#trail.audit.push(auditRow(submission, this.#rows.targetOf(submission), refusal.code));
    return this.#render(submission, refusal);
  }

  #render({ context }: Submission, refusal: Refusal): Answer {
    return refusalAnswer(refusal, context.requestId, this.#settings.docsUrl());
  }

  /** Stores a response for its key, in this transaction and for later commands of this batch. `complete` has its secrets. */
  #keep(submission: Submission, { status, body }: Answer, complete: string | null = null): void {
    const { idempotency, context, wallNow: createdAt } = submission;
    if (idempotency === null) return;
    const { key, fingerprint } = idempotency;
    const claim = { orgId: context.orgId, appId: context.appId ?? '', key };
    const sealedBody = complete === null ? null : sealFor(submission, complete, this.#settings.vault);
    const isConcluded = this.#priors.get(submission)?.status === pendingStatus;
    const stored = { fingerprint, status, body, createdAt };
    (isConcluded ? this.#trail.concluded : this.#trail.kept).push({ ...claim, ...stored });
    if (sealedBody !== null) this.#trail.storedSecrets.push({ ...claim, sealedBody, createdAt });
    this.#priors.set(submission, { ...stored, sealedBody });
  }

  #replay(submission: Submission, prior: Prior): Answer {
    const body = replayedBody(submission, prior, this.#settings.vault);
    return { status: prior.status, body, isReplay: true, code: null };
  }

  #resource(name: string): AnyResource {
    const resource = this.#settings.resources.get(name);
    if (!resource) throw new Error(`${name} is not in the list of resources`);
    return resource;
  }
}
