import type { Engine } from '../engine/engine.ts';
import { refusedCommand } from '../engine/submission.ts';
import { assert } from '../kernel/assert.ts';
import type { CommandKind, CommandRequest } from '../kernel/command.ts';
import type { Presented } from '../kernel/envelope.ts';
import { type Refusal, refuse } from '../kernel/errors.ts';
import type { Id } from '../kernel/ids.ts';
import type { Instant, Reader } from '../kernel/table.ts';
import { refuseName } from '../resources/organizations/machine.ts';
import { declareMember } from '../resources/organizations/member-machine.ts';
import {
  mayCreateOrganization,
  refuseTooManyOrganizations,
} from '../resources/organizations/member-store.ts';
import { importOrganization, restoreOrganization } from '../resources/organizations/snapshot-commands.ts';
import { organizationsTable } from '../resources/organizations/table.ts';
import { presentImport } from '../runs/fork-run.ts';
import type { Snapshots } from '../snapshots/snapshots.ts';

export interface RestoreSettings {
  readonly engine: Engine;
  readonly reader: Reader;
  readonly snapshots: Snapshots;
  readonly wallClock: () => Instant;
}

/** Where a person restores a snapshot to. `name` is that of the new organization, or the typed name of the replaced one. */
export interface RestoreTarget {
  readonly into: 'new' | 'current';
  readonly name: string;
  /** Whether anyone may sign up and create an organization. */
  readonly isOpen: boolean;
}

/** Restores a snapshot that a person has uploaded. `request` is that of the person, in the organization of the page. */
export async function restoreSnapshot(
  settings: RestoreSettings,
  request: CommandRequest,
  bytes: AsyncIterable<Uint8Array>,
  target: RestoreTarget,
): Promise<Presented | Refusal> {
  const restored = await (target.into === 'new'
    ? restoreAsNew(settings, request, bytes, target)
    : replaceCurrent(settings, request, bytes, target.name));
  if ('ok' in restored) {
    const kind = refusedCommand(restoreOrganization.name, restored as Refusal);
    await settings.engine.submit({ ...nextStep(settings.engine, request), kind, input: undefined });
  }
  return restored;
}

/** Every command of a request has its own row in the audit trail. */
function nextStep({ idGenerator }: Engine, request: CommandRequest): CommandRequest {
  const suffix = idGenerator.stepSuffixes(request.context.suffix).next();
  return { ...request, context: { ...request.context, suffix } };
}

async function restoreAsNew(
  { engine, reader, snapshots, wallClock }: RestoreSettings,
  request: CommandRequest,
  bytes: AsyncIterable<Uint8Array>,
  { name, isOpen }: RestoreTarget,
): Promise<Presented | Refusal> {
  const { actor, requestId } = request.context;
  assert(actor.kind === 'person', 'only a person restores a snapshot in the console');
  if (!(await mayCreateOrganization(reader, actor.id, isOpen))) return refuse('registration_closed');
  const tooMany = await refuseTooManyOrganizations(reader, actor.id);
  if (tooMany) return tooMany;
  const fork = { name, requestId, now: wallClock() };
  const result = await snapshots.restoreFrom(bytes, actor.id, { fork });
  if ('ok' in result) return result;
  const orgId = result.organization.id;
  const submit = <Input, Result>(kind: CommandKind<Input, Result>, input: Input) =>
    engine.submit({ ...inNew(engine, request, orgId), kind, input });
  const joined = await submit(declareMember, { personId: actor.id, role: 'owner' });
  await submit(importOrganization, null);
  return joined.code === null ? presentImport(result) : refuse(joined.code);
}

/** The audit trail of the new organization names the person, the request and the IP address. */
function inNew(engine: Engine, request: CommandRequest, orgId: Id<'organization'>): CommandRequest {
  const suffix = engine.idGenerator.background(orgId);
  return {
    ...request,
    target: { resource: 'organization', id: orgId, isClaimed: false },
    context: { ...request.context, orgId, appId: null, suffix },
  };
}

async function replaceCurrent(
  { engine, reader, snapshots, wallClock }: RestoreSettings,
  request: CommandRequest,
  bytes: AsyncIterable<Uint8Array>,
  name: string,
): Promise<Presented | Refusal> {
  const { orgId, actor } = request.context;
  assert(actor.kind === 'person', 'only a person restores a snapshot in the console');
  const organization = await reader.byKey(organizationsTable, orgId, orgId);
  if (!organization) return refuse('resource_not_found');
  const isOther = refuseName(organization, name);
  if (isOther) return isOther;
  // As with an export, the audit trail gets its row first: it may name a restore that failed, and never lacks one that happened.
  const audited = await engine.submit({ ...request, kind: restoreOrganization, input: null });
  if (audited.code !== null) return refuse(audited.code);
  const replaced = { orgId, requestId: request.context.requestId, now: wallClock() };
  const result = await snapshots.restoreFrom(bytes, actor.id, { replaced });
  if ('ok' in result) return result;
  return presentImport({ ...result, organization: { id: orgId, name: organization.name } });
}
