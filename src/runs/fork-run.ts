import type { Engine } from '../engine/engine.ts';
import { type Answer, refusedCommand, type Submission } from '../engine/submission.ts';
import type { CommandKind } from '../kernel/command.ts';
import type { Presented } from '../kernel/envelope.ts';
import { type Refusal, refuse } from '../kernel/errors.ts';
import type { Reader } from '../kernel/route.ts';
import type { Instant } from '../kernel/table.ts';
import { declareMember } from '../resources/organizations/member-machine.ts';
import { mayCreateOrganization, refuseOrganization } from '../resources/organizations/member-store.ts';
import {
  beginFork,
  type ConcludeFork,
  concludeFork,
  importOrganization,
} from '../resources/organizations/snapshot-commands.ts';
import type { ImportResult, Snapshots } from '../snapshots/snapshots.ts';

export interface ForkErrandSettings {
  readonly engine: Engine;
  readonly reader: Reader;
  readonly snapshots: Snapshots;
  /** Whether anybody may sign up, and so have an organization. */
  readonly isOpen: boolean;
  readonly wallClock: () => Instant;
}

/** The response to an import, with the keys and webhook secrets that it created. */
export function presentImport(result: ImportResult): Presented {
  return { ...presentWithoutSecrets(result), ...secretsOf(result) };
}

function presentWithoutSecrets({ organization, applications, apiKeys, webhooks, counts }: ImportResult) {
  return {
    ...({ object: 'import', sandbox: true, status: 'ok' } as const),
    ...{ organization, applications },
    apiKeys: apiKeys.map(({ id, name }) => ({ id, name })),
    webhooks: webhooks.map(({ id, url }) => ({ id, url })),
    counts,
  } satisfies Presented;
}

function secretsOf({ apiKeys, webhooks }: ImportResult) {
  return {
    apiKeys,
    webhooks: webhooks.map(({ id, url, secret }) => ({
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
    if (!(await mayCreateOrganization(reader, actor.id, isOpen)))
      return refused(refuse('registration_closed'), submission);
    const tooMany = await refuseOrganization(reader, actor.id);
    if (tooMany) return refused(tooMany, submission);
    const begun = await engine.submit({ ...submission, kind: beginFork });
    if (begun.code !== null || begun.isReplay) return begun;
    // Every command has a row of its own in the audit trail, whichever request it belongs to.
    const steps = engine.idGenerator.stepSuffixes(submission.context.suffix);
    const next = () => ({ ...submission, context: { ...submission.context, suffix: steps.next() } });
    const result = await snapshots.fork(orgId, { name, requestId, now: wallClock() });
    if ('ok' in result) return refused(result, next());
    // The fork's own trail names the person, the request and the address, too.
    const inFork = <Input>(kind: CommandKind<Input>, input: Input): Submission => {
      const { id: forkId } = result.organization;
      const context = {
        ...submission.context,
        orgId: forkId,
        appId: null,
        suffix: engine.idGenerator.background(forkId),
      };
      return { kind, input, context, idempotency: null, wallNow: wallClock() };
    };
    await engine.submit(inFork(importOrganization, null));
    const joined = await engine.submit(inFork(declareMember, { personId: actor.id, role: 'owner' }));
    if (joined.code !== null) return joined;
    const input: ConcludeFork = { shown: presentWithoutSecrets(result), secrets: secretsOf(result) };
    return engine.submit({ ...next(), kind: concludeFork, input });
  };
}
