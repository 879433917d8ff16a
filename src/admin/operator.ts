import type { Readable } from 'node:stream';
import type { Engine } from '../engine/engine.ts';
import { submitPrepared } from '../engine/prepared.ts';
import { systemRequest } from '../engine/system-command.ts';
import { newApiKey } from '../engine/tokens.ts';
import type {
  KeyBody,
  OperatorActions,
  OperatorForkBody,
  OperatorRequest,
  TenantBody,
} from '../http/operator.ts';
import { defaultApplicationSettings } from '../kernel/application-settings.ts';
import type { Answer, CommandKind, CommandRequest } from '../kernel/command.ts';
import type { Presented } from '../kernel/envelope.ts';
import { type Refusal, refuse } from '../kernel/errors.ts';
import { formatId, type Id, idFrom, idPrefixes, isId } from '../kernel/ids.ts';
import { scopes as allScopes } from '../kernel/permissions.ts';
import type { Ports } from '../kernel/prepare.ts';
import type { Principal } from '../kernel/route.ts';
import type { Instant, Reader } from '../kernel/table.ts';
import { dayMs } from '../kernel/time.ts';
import { type CreateApiKey, createApiKey } from '../resources/api-keys/machine.ts';
import { countActiveKeys } from '../resources/api-keys/store.ts';
import { findFirstApplication } from '../resources/applications/store.ts';
import { applicationsTable } from '../resources/applications/table.ts';
import { deleteOrganization } from '../resources/organizations/machine.ts';
import { prepareDeleteOrganization } from '../resources/organizations/prepare.ts';
import { resetOrganization } from '../resources/organizations/reset-commands.ts';
import { prepareResetOrganization } from '../resources/organizations/reset-prepare.ts';
import {
  exportOrganization,
  forkOrganization,
  importOrganization,
} from '../resources/organizations/snapshot-commands.ts';
import { findExpiredOrganizations, findNewestOrganizations } from '../resources/organizations/store.ts';
import { type OrganizationRow, organizationsTable } from '../resources/organizations/table.ts';
import { createTenant } from '../resources/organizations/tenant-commands.ts';
import { presentImport } from '../runs/fork-run.ts';
import type { ForkOptions } from '../snapshots/import-plan.ts';
import type { ImportResult, Snapshots } from '../snapshots/snapshots.ts';
import { type RestoreTarget, restoreSnapshot } from './restore.ts';

export interface OperatorSettings {
  readonly engine: Engine;
  readonly reader: Reader;
  readonly wallClock: () => Instant;
  /** The time by which organizations expire, also on a deterministic server, whose wall clock is frozen. */
  readonly realTime: () => Instant;
  readonly ports: Ports;
  readonly snapshots: Snapshots;
}

const defaultName = 'default';
const expiryMsMax = 366 * dayMs;
const expiredInRoundMax = 500;

/** The operator's actions on organizations, with the actor `system`. */
export class Operator implements OperatorActions {
  readonly #settings: OperatorSettings;

  constructor(settings: OperatorSettings) {
    this.#settings = settings;
  }

  /** Callers pass a limit of one more than the page size to detect a next page. */
  async organizations(afterId: string | undefined, limit: number): Promise<readonly OrganizationRow[]> {
    const { reader } = this.#settings;
    const after = afterId === undefined ? undefined : await this.#find(idFrom('organization', afterId));
    if (afterId !== undefined && after === undefined) return [];
    return findNewestOrganizations(reader, after, limit);
  }

  async createTenant(request: OperatorRequest, tenant: TenantBody): Promise<Answer | Refusal> {
    const { name, application, scopes, keyName, mayReset } = tenant;
    const expiresAt = this.#expiry(tenant.expiresAt);
    if (typeof expiresAt === 'object' && expiresAt !== null) return expiresAt;
    const { idGenerator } = this.#settings.engine;
    const orgId = formatId('organization', idGenerator.organization(name));
    const input = {
      name,
      applicationName: application?.name ?? defaultName,
      keyName: keyName ?? defaultName,
      scopes: scopes ?? allScopes,
      mayReset: mayReset ?? true,
      apiKey: newApiKey(),
      expiresAt,
    };
    return this.#submit(request, createTenant, input, orgId, null);
  }

  async createKey(
    request: OperatorRequest,
    orgId: Id<'organization'>,
    key: KeyBody,
  ): Promise<Answer | Refusal> {
    const { reader, wallClock } = this.#settings;
    if (!(await this.#find(orgId))) return refuse('resource_not_found');
    const appId = key.applicationId ?? (await findFirstApplication(reader, orgId));
    const exists =
      appId !== undefined &&
      isId('application', appId) &&
      (await reader.byKey(applicationsTable, orgId, appId)) !== undefined;
    if (!exists) return refuse('resource_not_found');
    const input: CreateApiKey = {
      settings: {
        ...{ name: key.name, scopes: key.scopes ?? allScopes, mayReset: key.mayReset ?? false },
        ...{ allowedCidrs: [], expiresAt: null },
      },
      mayGrantReset: true,
      created: newApiKey(),
      others: await countActiveKeys(reader, orgId, appId, wallClock()),
    };
    return this.#submit(request, createApiKey, input, orgId, appId);
  }

  async delete(request: OperatorRequest, orgId: Id<'organization'>): Promise<Answer | Refusal> {
    if (!(await this.#find(orgId))) return refuse('resource_not_found');
    return this.#remove(this.#request(request, orgId, null));
  }

  /** Deletes expired organizations, at most `expiredInRoundMax`. Returns their number. */
  async expire(): Promise<number> {
    const { engine, reader, realTime, wallClock } = this.#settings;
    const orgIds = await findExpiredOrganizations(reader, realTime(), expiredInRoundMax);
    let deleted = 0;
    for (const orgId of orgIds) {
      const suffix = engine.idGenerator.background(orgId);
      const scope = { orgId, appId: null };
      const { code } = await this.#remove(systemRequest(scope, 'expiry', wallClock(), suffix));
      // Another node may have deleted it already; a busy organization is retried in the next round.
      if (code === null) deleted += 1;
    }
    return deleted;
  }

  /** An instant between now and a year from now. */
  #expiry(text: string | undefined): Instant | null | Refusal {
    if (text === undefined) return null;
    const [at, now] = [Date.parse(text), this.#settings.realTime()];
    if (at > now && at <= now + expiryMsMax) return at;
    return refuse('invalid_request', {
      message: '/expiresAt must be in the future, and at most 366 days from now.',
      param: '/expiresAt',
    });
  }

  async reset(request: OperatorRequest, orgId: Id<'organization'>): Promise<Answer | Refusal> {
    if (!(await this.#find(orgId))) return refuse('resource_not_found');
    const { engine, ports } = this.#settings;
    const reset = { command: resetOrganization, prepare: prepareResetOrganization };
    const requested = { isPermitted: true, name: null };
    return submitPrepared(engine, ports, reset, requested, this.#request(request, orgId, null));
  }

  /** Writes an audit row before it sends any data. */
  async snapshot(
    request: OperatorRequest,
    orgId: Id<'organization'>,
    hasSecrets: boolean,
  ): Promise<Readable | Answer | Refusal> {
    if (!(await this.#find(orgId))) return refuse('resource_not_found');
    const audited = await this.#submit(request, exportOrganization, null, orgId, null);
    return audited.code === null ? this.#settings.snapshots.export(orgId, hasSecrets) : audited;
  }

  /** For a person in the console: the person is the actor, and the snapshot has no secrets. */
  async snapshotFor(
    request: OperatorRequest,
    { orgId, actor }: Pick<Principal, 'orgId' | 'actor'>,
  ): Promise<Readable | Answer | Refusal> {
    const command = this.#request(request, orgId, null);
    const context = { ...command.context, actor };
    const audited = await this.#settings.engine.submit({
      ...command,
      ...{ kind: exportOrganization, input: null, context },
    });
    return audited.code === null ? this.#settings.snapshots.export(orgId, false) : audited;
  }

  /** For a person in the console: restores an uploaded snapshot. */
  restoreFor(
    request: OperatorRequest,
    { orgId, actor }: Pick<Principal, 'orgId' | 'actor'>,
    bytes: AsyncIterable<Uint8Array>,
    target: RestoreTarget,
  ): Promise<Presented | Refusal> {
    const command = this.#request(request, orgId, null);
    const byPerson = { ...command, context: { ...command.context, actor } };
    return restoreSnapshot(this.#settings, byPerson, bytes, target);
  }

  async importSnapshot(
    request: OperatorRequest,
    bytes: AsyncIterable<Uint8Array>,
    fork: { readonly name: string | undefined } | undefined,
  ): Promise<Presented | Refusal> {
    const { snapshots } = this.#settings;
    return this.#auditImport(
      request,
      await snapshots.importFrom(bytes, fork && this.#forkOptions(request, fork.name)),
    );
  }

  /** As with an export, the source's audit trail gets its row before the copy begins. */
  async fork(
    request: OperatorRequest,
    orgId: Id<'organization'>,
    { name, expiresAt: text }: OperatorForkBody,
  ): Promise<Presented | Refusal> {
    const expiresAt = this.#expiry(text);
    if (typeof expiresAt === 'object' && expiresAt !== null) return expiresAt;
    if (!(await this.#find(orgId))) return refuse('resource_not_found');
    const audited = await this.#submit(request, forkOrganization, null, orgId, null);
    if (audited.code !== null) return refuse(audited.code);
    const options = { ...this.#forkOptions(request, name), expiresAt };
    return this.#auditImport(request, await this.#settings.snapshots.fork(orgId, options));
  }

  #forkOptions({ id: requestId }: OperatorRequest, name: string | undefined): ForkOptions {
    return { name, requestId, now: this.#settings.wallClock() };
  }

  async #auditImport(request: OperatorRequest, result: ImportResult | Refusal): Promise<Presented | Refusal> {
    if ('ok' in result) return result;
    await this.#submit(request, importOrganization, null, result.organization.id, null);
    return presentImport(result);
  }

  async #find(orgId: Id<'organization'>): Promise<OrganizationRow | undefined> {
    if (!isId('organization', orgId)) return undefined;
    return this.#settings.reader.byKey(organizationsTable, orgId, orgId);
  }

  #remove(request: CommandRequest): PromiseLike<Answer> {
    const { engine, ports } = this.#settings;
    const removal = { command: deleteOrganization, prepare: prepareDeleteOrganization };
    return submitPrepared(engine, ports, removal, { name: null }, request);
  }

  #submit<Input, Result>(
    request: OperatorRequest,
    kind: CommandKind<Input, Result>,
    input: Input,
    orgId: Id<'organization'>,
    appId: Id<'application'> | null,
  ): Promise<Answer<Result>> {
    return this.#settings.engine.submit({ ...this.#request(request, orgId, appId), kind, input });
  }

  #request(
    request: OperatorRequest,
    orgId: Id<'organization'>,
    appId: Id<'application'> | null,
  ): CommandRequest {
    const { idGenerator } = this.#settings.engine;
    return {
      idempotency: null,
      target: { resource: 'organization', id: orgId, isClaimed: false },
      wallNow: this.#settings.wallClock(),
      context: {
        orgId,
        appId,
        settings: defaultApplicationSettings,
        actor: { kind: 'system', id: 'operator' },
        requestId: request.id,
        ip: request.ip,
        suffix: idGenerator.isSeeded ? idGenerator.background(orgId) : suffixOf(request),
      },
    };
  }
}

function suffixOf({ id }: OperatorRequest): string {
  return id.slice(idPrefixes.request.length + 1);
}
