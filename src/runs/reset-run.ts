import type { Engine } from '../engine/engine.ts';
import { type Answer, refusedCommand, type Submission } from '../engine/submission.ts';
import type { Reader } from '../kernel/route.ts';
import { findApplicationIds } from '../resources/applications/store.ts';
import { type DeleteOrganization, refuseName } from '../resources/organizations/machine.ts';
import { type ResetOrganization, refuseUnpermitted } from '../resources/organizations/reset-commands.ts';
import { organizationsTable } from '../resources/organizations/table.ts';
import type { RequestLog } from '../workers/request-log.ts';

export interface ResetErrandSettings {
  readonly engine: Engine;
  readonly reader: Reader;
  /** Writes what was logged so far: it goes with the rest, and does not come after it. */
  readonly requestLog: Pick<RequestLog, 'flush'> | undefined;
}

/** What is written behind goes with the rest, and does not come after it. */
export function deleteErrand({
  engine,
  reader,
  flush,
}: {
  readonly engine: Engine;
  readonly reader: Reader;
  readonly flush: () => Promise<unknown>;
}): (submission: Submission) => Promise<Answer> {
  return async (submission) => {
    const { orgId } = submission.context;
    const { name } = submission.input as DeleteOrganization;
    const organization = await reader.byKey(organizationsTable, orgId, orgId);
    // Checked before the deletion takes the organization for itself, which would make its other writers wait.
    const refusal = organization && refuseName(organization, name);
    if (refusal) {
      const kind = refusedCommand(submission.kind.name, refusal);
      return engine.submit({ ...submission, kind, idempotency: null });
    }
    await flush();
    return engine.submit(submission);
  };
}

/** A reset needs to know the applications of its organization, because deciding is pure and each has a clock. */
export function resetErrand(settings: ResetErrandSettings): (submission: Submission) => Promise<Answer> {
  const { engine, reader, requestLog } = settings;
  return async (submission) => {
    const asked = submission.input as ResetOrganization;
    const refusal = refuseUnpermitted(asked);
    // Before it is queued as a reset, because a reset has the organization to itself.
    if (refusal) {
      const kind = refusedCommand(submission.kind.name, refusal);
      return engine.submit({ ...submission, kind, idempotency: null });
    }
    const [appIds] = await Promise.all([
      findApplicationIds(reader, submission.context.orgId),
      requestLog?.flush(),
    ]);
    return engine.submit({ ...submission, input: { ...asked, appIds } });
  };
}
