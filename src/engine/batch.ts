import { encodeArray } from '../db/array.ts';
import type { Connection, Database } from '../db/database.ts';
import type { Accepted, AnyResource, Change } from '../kernel/command.ts';
import type { DeliveryRow } from '../kernel/delivery.ts';
import { type Presented, successStatus, withRequestId } from '../kernel/envelope.ts';
import { isStored, type Refusal, refuse } from '../kernel/errors.ts';
import { DatabaseFailure } from '../kernel/failure.ts';
import { formatId } from '../kernel/ids.ts';
import type { Provider } from '../kernel/provider.ts';
import type { AuditRow, EventRow, LedgerEntryRow } from '../kernel/trail.ts';
import { findAnswers, type IdempotencyRow, pendingStatus } from './answers.ts';
import { BatchClocks } from './batch-clocks.ts';
import { BatchTrail } from './batch-trail.ts';
import {
  auditRow,
  eventRow,
  historyRow,
  ledgerEntryRows,
  providerEventRows,
  settlementLineRows,
} from './derive.ts';
import { newSuffix } from './ids.ts';
import type { KnownClocks } from './known-clocks.ts';
import { type TableWrite, writeStatement } from './persist.ts';
import { type Answer, claimScope, refusalAnswer, type Submission } from './submission.ts';
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
}

type Prior = Pick<IdempotencyRow, 'fingerprint' | 'status' | 'body' | 'createdAt'>;

/** Says in which step a batch failed: a lock that is not had while writing is another request with the same key. */
export class PersistBusy extends Error {
  override readonly name = 'PersistBusy';
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
  return rows.isEmpty
    ? batch.run(database, priors)
    : database.transaction((connection) => batch.run(connection, priors));
}

class Batch {
  readonly #submissions: readonly Submission[];
  readonly #rows: WorkingSet;
  readonly #settings: BatchSettings;
  readonly #priors = new Map<string, Prior>();
  readonly #trail = new BatchTrail();
  readonly #clocks: BatchClocks;
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

  async run(connection: Connection, priors: Priors): Promise<readonly Answer[] | undefined> {
    const claims = this.#submissions.filter(({ idempotency }) => idempotency !== null);
    if (!this.#rows.isEmpty || priors === 'look-up') {
      await this.#rows.find(connection);
      // Sent behind the locks: an answer that was kept by whoever had them is seen.
      const load = this.#rows.load(connection);
      const look = priors === 'look-up' ? this.#loadPriors(connection, claims) : undefined;
      await Promise.all([load, look]);
      await this.#clocks.loadForeign(connection, this.#submissions);
    }
    const answers = this.#decideAll();
    if (priors === 'trust-none' && this.#trail.kept.length < claims.length) return undefined;
    return this.#finish(connection, answers);
  }

  #decideAll(): readonly Answer[] {
    return this.#submissions.map((submission) => this.#decide(submission));
  }

  async #finish(connection: Connection, answers: readonly Answer[]): Promise<readonly Answer[]> {
    const writes = this.#trail.writes(this.#rows, this.#settings.resources.values());
    if (writes.length > 0) await this.#persist(connection, writes);
    this.#clocks.remember();
    const { changes, announced, events: allEvents, deliveries, audit } = this.#trail;
    this.#settings.onCommit?.({ changes, events: announced, allEvents, deliveries, audit });
    // Told at the end, because a batch may be decided twice before it is written once.
    for (const { error, requestId } of this.#bugs) this.#settings.onBug(error, requestId);
    return answers;
  }

  async #loadPriors(connection: Connection, claims: readonly Submission[]): Promise<void> {
    if (claims.length === 0) return;
    const found = await connection.query<Prior & { n: number }>(findAnswers, [
      encodeArray(
        'text',
        claims.map(({ context }) => context.orgId),
      ),
      encodeArray(
        'text',
        claims.map(({ context }) => context.appId ?? ''),
      ),
      encodeArray(
        'text',
        claims.map(({ idempotency }) => idempotency?.key),
      ),
    ]);
    for (const { n, ...prior } of found) {
      const claim = claims[n - 1];
      const scope = claim ? claimScope(claim) : null;
      if (scope !== null) this.#priors.set(scope, prior);
    }
  }

  #decide(submission: Submission): Answer {
    const scope = claimScope(submission);
    const prior = scope === null ? undefined : this.#priors.get(scope);
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
    try {
      const decision = submission.kind.decide(
        submission.input,
        { ...submission.context, now: this.#clocks.nowFor(submission), wallNow: submission.wallNow },
        this.#rows.rowsFor(submission),
      );
      return decision.ok ? this.#accepted(submission, decision) : this.#refused(submission, decision);
    } catch (error) {
      // A bug in one command: it alone is answered with 500, and its neighbours go on.
      this.#bugs.push({ error, requestId: submission.context.requestId });
      return this.#render(submission, refuse('internal_error'));
    }
  }

  #accepted(submission: Submission, accepted: Accepted): Answer {
    const { changes, answer, fields, isInterim, timed, events, deliveries, isSecret, forgetsCoverage } =
      accepted;
    const { context, kind } = submission;
    const present = ({ resource, row, shown }: Accepted['answer']) =>
      JSON.stringify(shown ?? this.#resource(resource).present(row));
    // All is made and shown before anything is recorded: what fails must not leave half of its command behind.
    const shown = changes.map(present);
    const own = shown[changes.findLastIndex(({ row }) => row === answer.row)] ?? present(answer);
    const entries = changes.flatMap((change) => ledgerEntryRows(context, change));
    const told = changes.flatMap((change) => providerEventRows(context, change, this.#settings.providers));
    const settled = changes.flatMap((change) =>
      settlementLineRows(context, change, this.#settings.providers),
    );
    const more = submission.expandsEntries
      ? { ...fields, ledgerEntries: entries.map(this.#settings.presentEntry) }
      : fields;
    const body = withRequestId(more ? withFields(own, more) : own, context.requestId);
    // From here it must succeed.
    changes.forEach((change, i) => {
      this.#record(submission, change, shown[i] ?? '');
    });
    this.#trail.entries.push(...entries);
    this.#trail.providerEvents.push(...told);
    this.#trail.settlementLines.push(...settled);
    for (const { resource, row } of timed ?? []) this.#rows.retime(resource, row);
    this.#trail.events.push(...(events ?? []));
    if (!kind.addressesEvents) this.#trail.announced.push(...(events ?? []));
    this.#trail.deliveries.push(...(deliveries ?? []));
    if (forgetsCoverage) this.#trail.forgotten.push({ orgId: context.orgId });
    this.#trail.audit.push(auditRow(submission, answer));
    const made: Answer = { status: successStatus[kind.success], body, isReplay: false, code: null };
    if (isInterim) this.#keep(submission, { ...made, status: pendingStatus, body: '' });
    else this.#keep(submission, isSecret ? { ...made, body: this.#sealed(submission, body) } : made);
    return made;
  }

  #record({ context }: Submission, change: Change, json: string): void {
    this.#rows.apply(change);
    this.#trail.changes.push(change);
    const { requestId, suffix } = context;
    const isTold = this.#resource(change.resource).emitsEvents && !change.isSilent;
    const appId = isTold ? change.row.appId : undefined;
    // The first event shares its suffix with the request, so that the rows of one request can be told together.
    const eventId =
      appId === undefined ? null : formatId('event', this.#isFirstEvent(requestId) ? suffix : newSuffix());
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
    this.#trail.audit.push(auditRow(submission, refusal.code));
    const answer = this.#render(submission, refusal);
    return isStored(refusal.code) ? this.#keep(submission, answer) : answer;
  }

  #render({ context }: Submission, refusal: Refusal): Answer {
    return refusalAnswer(refusal, context.requestId, this.#settings.docsUrl());
  }

  /** Keeps an answer for its key, in this transaction and for those behind it in this batch. */
  #keep(submission: Submission, answer: Answer): Answer {
    const { idempotency, context, wallNow } = submission;
    const scope = claimScope(submission);
    if (idempotency === null || scope === null) return answer;
    const { status, body } = answer;
    const { key, fingerprint } = idempotency;
    const isConcluded = this.#priors.get(scope)?.status === pendingStatus;
    (isConcluded ? this.#trail.concluded : this.#trail.kept).push({
      orgId: context.orgId,
      appId: context.appId ?? '',
      key,
      fingerprint,
      status,
      body,
      createdAt: wallNow,
    });
    this.#priors.set(scope, { fingerprint, status, body, createdAt: wallNow });
    return answer;
  }

  #sealed(submission: Submission, body: string): string {
    return this.#settings.vault.seal(body, claimScope(submission) ?? '');
  }

  #replay(submission: Submission, { status, body }: Prior): Answer {
    const { vault } = this.#settings;
    const shown = vault.isSealed(body) ? vault.open(body, claimScope(submission) ?? '') : body;
    return { status, body: shown, isReplay: true, code: null };
  }

  async #persist(connection: Connection, writes: readonly TableWrite[]): Promise<void> {
    const { statement, values } = writeStatement(writes, this.#clocks.decidedBy);
    try {
      await connection.finish(statement, values);
    } catch (error) {
      const isBusy = error instanceof DatabaseFailure && error.kind === 'busy';
      throw isBusy
        ? new PersistBusy('a row with the same key is being written elsewhere', { cause: error })
        : error;
    }
  }

  #resource(name: string): AnyResource {
    const resource = this.#settings.resources.get(name);
    if (!resource) throw new Error(`${name} is not in the list of resources`);
    return resource;
  }
}

function withFields(json: string, fields: Readonly<Record<string, unknown>>): string {
  return `${json.slice(0, -1)},${JSON.stringify(fields).slice(1)}`;
}

/** A request of several commands whose process died on the way. */
function isDead({ status, createdAt }: Prior, { kind, wallNow }: Submission): boolean {
  const { retakenAfterMs } = kind;
  return status === pendingStatus && retakenAfterMs !== undefined && wallNow - createdAt > retakenAfterMs;
}
