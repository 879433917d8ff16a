import type { Readable } from 'node:stream';
import type { Engine } from '../engine/engine.ts';
import type { Answer, Submission } from '../engine/submission.ts';
import { systemCommand } from '../engine/system-command.ts';
import { newApiKey } from '../engine/tokens.ts';
import { defaultApplicationSettings } from '../kernel/application-settings.ts';
import type { CommandKind } from '../kernel/command.ts';
import type { Presented } from '../kernel/envelope.ts';
import { type Refusal, refuse } from '../kernel/errors.ts';
import { formatId, idPrefixes, isId } from '../kernel/ids.ts';
import { scopes as allScopes, type Scope } from '../kernel/permissions.ts';
import type { Principal, Reader } from '../kernel/route.ts';
import type { Instant } from '../kernel/table.ts';
import { type CreateApiKey, createApiKey } from '../resources/api-keys/machine.ts';
import { countActiveKeys } from '../resources/api-keys/store.ts';
import { findFirstApplication } from '../resources/applications/store.ts';
import { applicationsTable } from '../resources/applications/table.ts';
import { deleteOrganization } from '../resources/organizations/machine.ts';
import { resetOrganization } from '../resources/organizations/reset-commands.ts';
import {
  exportOrganization,
  forkOrganization,
  importOrganization,
} from '../resources/organizations/snapshot-commands.ts';
import { findExpiredOrganizations, findNewestOrganizations } from '../resources/organizations/store.ts';
import { type OrganizationRow, organizationsTable } from '../resources/organizations/table.ts';
import { createTenant } from '../resources/organizations/tenant-commands.ts';
import { presentImport } from '../runs/fork-run.ts';
import type { AsFork } from '../snapshots/arrival.ts';
import type { ImportResult, Snapshots } from '../snapshots/snapshots.ts';

export interface OperatorSettings {
  readonly engine: Engine;
  readonly reader: Reader;
  readonly wallClock: () => Instant;
  /** By which organizations expire, also on a server whose wall clock stands still by a seed. */
  readonly realTime: () => Instant;
  readonly reset: (submission: Submission) => Promise<Answer>;
  readonly remove: (submission: Submission) => Promise<Answer>;
  readonly snapshots: Snapshots;
}

/** A request of the operator, as far as the trail of what it does names it. */
export interface OperatorRequest {
  readonly id: string;
  readonly ip: string;
}

export interface AskedTenant {
  readonly name: string;
  readonly application?: { readonly name: string };
  readonly scopes?: readonly Scope[];
  readonly keyName?: string;
  /** True by default: the organization was created together with the key. */
  readonly mayReset?: boolean;
  readonly expiresAt?: string;
}

export interface AskedFork {
  readonly name: string;
  readonly expiresAt?: string;
}

export interface AskedKey {
  readonly name: string;
  readonly scopes?: readonly Scope[];
  readonly applicationId?: string;
  /** False by default. */
  readonly mayReset?: boolean;
}

const defaultName = 'default';
const expiryMsMax = 366 * 86_400_000;
const expiredInRoundMax = 500;

/** What the operator of a server does with organizations, in Sandbank's own name. */
export class Operator {
  readonly #settings: OperatorSettings;

  constructor(settings: OperatorSettings) {
    this.#settings = settings;
  }

  /** One row more than the limit tells whether there are more. */
  async organizations(afterId: string | undefined, limit: number): Promise<readonly OrganizationRow[]> {
    const { reader } = this.#settings;
    const after = afterId === undefined ? undefined : await this.#find(afterId);
    if (afterId !== undefined && after === undefined) return [];
    return findNewestOrganizations(reader, after, limit);
  }

  async createTenant(request: OperatorRequest, asked: AskedTenant): Promise<Answer | Refusal> {
    const { name, application, scopes, keyName, mayReset } = asked;
    const expiresAt = this.#expiry(asked.expiresAt);
    if (typeof expiresAt === 'object' && expiresAt !== null) return expiresAt;
    const { idGenerator } = this.#settings.engine;
    const orgId = formatId('organization', idGenerator.organization(name));
    const input = {
      name,
      applicationName: application?.name ?? defaultName,
      keyName: keyName ?? defaultName,
      scopes: scopes ?? allScopes,
      mayReset: mayReset ?? true,
      made: newApiKey(),
      expiresAt,
    };
    return this.#submit(request, createTenant, input, orgId, null);
  }

  async createKey(request: OperatorRequest, orgId: string, asked: AskedKey): Promise<Answer | Refusal> {
    const { reader, wallClock } = this.#settings;
    if (!(await this.#find(orgId))) return refuse('resource_not_found');
    const appId = asked.applicationId ?? (await findFirstApplication(reader, orgId));
    const isThere =
      appId !== undefined &&
      isId('application', appId) &&
      (await reader.byKey(applicationsTable, orgId, appId)) !== undefined;
    if (!isThere) return refuse('resource_not_found');
    const input: CreateApiKey = {
      settings: {
        ...{ name: asked.name, scopes: asked.scopes ?? allScopes, mayReset: asked.mayReset ?? false },
        ...{ allowedCidrs: [], expiresAt: null },
      },
      mayGrantReset: true,
      made: newApiKey(),
      others: await countActiveKeys(reader, orgId, appId, wallClock()),
    };
    return this.#submit(request, createApiKey, input, orgId, appId);
  }

  async delete(request: OperatorRequest, orgId: string): Promise<Answer | Refusal> {
    if (!(await this.#find(orgId))) return refuse('resource_not_found');
    return this.#settings.remove(this.#submission(request, deleteOrganization, { name: null }, orgId, null));
  }

  /** Deletes organizations whose time is over, some hundreds at most. Returns how many there were. */
  async expire(): Promise<number> {
    const { engine, reader, realTime, wallClock, remove } = this.#settings;
    const orgIds = await findExpiredOrganizations(reader, realTime(), expiredInRoundMax);
    let deleted = 0;
    for (const orgId of orgIds) {
      const suffix = engine.idGenerator.background(orgId);
      const place = { orgId, appId: null };
      const { code } = await remove(
        systemCommand(deleteOrganization, { name: null }, place, 'expiry', wallClock(), suffix),
      );
      // Another node may have been faster; one that is busy is left to the next round.
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

  async reset(request: OperatorRequest, orgId: string): Promise<Answer | Refusal> {
    if (!(await this.#find(orgId))) return refuse('resource_not_found');
    const submission = this.#submission(
      request,
      resetOrganization,
      { appIds: [], isPermitted: true },
      orgId,
      null,
    );
    return this.#settings.reset(submission);
  }

  /** With a row in the audit trail before anything goes out. */
  async snapshot(
    request: OperatorRequest,
    orgId: string,
    hasSecrets: boolean,
  ): Promise<Readable | Answer | Refusal> {
    if (!(await this.#find(orgId))) return refuse('resource_not_found');
    const noted = await this.#submit(request, exportOrganization, null, orgId, null);
    return noted.code === null ? this.#settings.snapshots.export(orgId, hasSecrets) : noted;
  }

  /** For a person, in their name, and without secrets. */
  async snapshotFor(
    request: OperatorRequest,
    { orgId, actor }: Pick<Principal, 'orgId' | 'actor'>,
  ): Promise<Readable | Answer | Refusal> {
    const submission = this.#submission(request, exportOrganization, null, orgId, null);
    const context = { ...submission.context, actor };
    const noted = await this.#settings.engine.submit({ ...submission, context });
    return noted.code === null ? this.#settings.snapshots.export(orgId, false) : noted;
  }

  async importSnapshot(
    request: OperatorRequest,
    bytes: AsyncIterable<Uint8Array>,
    fork: { readonly name: string | undefined } | undefined,
  ): Promise<Presented | Refusal> {
    const { snapshots } = this.#settings;
    return this.#noted(request, await snapshots.importFrom(bytes, fork && this.#asFork(request, fork.name)));
  }

  /** As with an export, the source's audit trail has its row before anything is copied. */
  async fork(
    request: OperatorRequest,
    orgId: string,
    { name, expiresAt: text }: AskedFork,
  ): Promise<Presented | Refusal> {
    const expiresAt = this.#expiry(text);
    if (typeof expiresAt === 'object' && expiresAt !== null) return expiresAt;
    if (!(await this.#find(orgId))) return refuse('resource_not_found');
    const noted = await this.#submit(request, forkOrganization, null, orgId, null);
    if (noted.code !== null) return refuse(noted.code);
    const asFork = { ...this.#asFork(request, name), expiresAt };
    return this.#noted(request, await this.#settings.snapshots.fork(orgId, asFork));
  }

  #asFork({ id: requestId }: OperatorRequest, name: string | undefined): AsFork {
    return { name, requestId, now: this.#settings.wallClock() };
  }

  async #noted(request: OperatorRequest, result: ImportResult | Refusal): Promise<Presented | Refusal> {
    if ('ok' in result) return result;
    await this.#submit(request, importOrganization, null, result.organization.id, null);
    return presentImport(result);
  }

  async #find(orgId: string): Promise<OrganizationRow | undefined> {
    if (!isId('organization', orgId)) return undefined;
    return this.#settings.reader.byKey(organizationsTable, orgId, orgId);
  }

  #submit<Input>(
    request: OperatorRequest,
    kind: CommandKind<Input>,
    input: Input,
    orgId: string,
    appId: string | null,
  ): Promise<Answer> {
    return this.#settings.engine.submit(this.#submission(request, kind, input, orgId, appId));
  }

  #submission<Input>(
    request: OperatorRequest,
    kind: CommandKind<Input>,
    input: Input,
    orgId: string,
    appId: string | null,
  ): Submission {
    const { idGenerator } = this.#settings.engine;
    return {
      kind,
      input,
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
