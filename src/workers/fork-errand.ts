import type { Engine } from '../engine/engine.ts';
import { newSuffix } from '../engine/ids.ts';
import { type Answer, refusedCommand, type Submission } from '../engine/submission.ts';
import type { Presented } from '../kernel/envelope.ts';
import { type Refusal, refuse } from '../kernel/errors.ts';
import type { Reader } from '../kernel/route.ts';
import type { Instant } from '../kernel/table.ts';
import { declareMember } from '../resources/members/machine.ts';
import { mayFound, refuseOrganization } from '../resources/members/store.ts';
import { beginFork, concludeFork, importOrganization } from '../resources/snapshots/machine.ts';
import type { ImportResult, Snapshots } from './snapshots.ts';
import { systemCommand } from './system-command.ts';

export interface ForkErrandSettings {
  readonly engine: Engine;
  readonly reader: Reader;
  readonly snapshots: Snapshots;
  /** Whether anybody may sign up, and so have an organization. */
  readonly isOpen: boolean;
  readonly wallClock: () => Instant;
}

/** What came in, as answers show it. */
export function presentImport(result: ImportResult): Presented {
  return {
    object: 'import',
    sandbox: true,
    status: 'ok',
    ...result,
    webhooks: result.webhooks.map(({ id, url, secret }) => ({
      id,
      url,
      ...(secret === undefined ? {} : { secret }),
    })),
  };
}

/** A person forks their organization: whoever does so owns the copy. */
export function forkErrand(settings: ForkErrandSettings): (submission: Submission) => Promise<Answer> {
  const { engine, reader, snapshots, wallClock, isOpen } = settings;
  return async (submission) => {
    const { orgId, actor, requestId } = submission.context;
    const { name } = submission.input as { name: string };
    const refused = (refusal: Refusal, to: Submission) =>
      engine.submit({ ...to, kind: refusedCommand(beginFork.name, refusal), idempotency: null });
    if (!(await mayFound(reader, actor.id, isOpen)))
      return refused(refuse('registration_closed'), submission);
    const tooMany = await refuseOrganization(reader, actor.id);
    if (tooMany) return refused(tooMany, submission);
    const begun = await engine.submit({ ...submission, kind: beginFork });
    if (begun.code !== null || begun.isReplay) return begun;
    // Every command has a row of its own in the audit trail, whichever request it belongs to.
    const next = () => ({ ...submission, context: { ...submission.context, suffix: newSuffix() } });
    const result = await snapshots.fork(orgId, { name, requestId, now: wallClock() });
    if ('ok' in result) return refused(result, next());
    const place = { orgId: result.organization.id, appId: null };
    await engine.submit(systemCommand(importOrganization, null, place, actor.id, wallClock()));
    const member = { personId: actor.id, role: 'owner' } as const;
    const joined = await engine.submit(systemCommand(declareMember, member, place, actor.id, wallClock()));
    if (joined.code !== null) return joined;
    return engine.submit({ ...next(), kind: concludeFork, input: { shown: presentImport(result) } });
  };
}
