import {
  accepted,
  type Change,
  type CommandKind,
  change,
  type PreparedCommand,
} from '../../kernel/command.ts';
import { type Refusal, refuse } from '../../kernel/errors.ts';
import type { Id } from '../../kernel/ids.ts';
import { defineMachine } from '../../kernel/machine.ts';
import type { Instant } from '../../kernel/table.ts';
import type { OrganizationRow } from './table.ts';

/** The tenant. Every record belongs to one organization, and no organization sees the records of another. */
export const organizationMachine = defineMachine<OrganizationRow>()({
  resource: 'organization',
  states: ['active'],
  moves: [
    { action: 'create', from: [], to: ['active'], event: 'created' },
    { action: 'rename', from: ['active'], to: ['active'], event: 'renamed' },
    { action: 'change_security', from: ['active'], to: ['active'], event: 'security_changed' },
    { action: 'count_owners', from: ['active'], to: ['active'], triggeredBy: 'member', event: 'updated' },
  ],
});

/** Creates or renames the organization. Idempotent, so that a seed file can be applied at every start. */
export const declareOrganization: CommandKind<{ readonly name: string }> = {
  name: 'organizations.declare',
  success: 'ok',
  reads: (_input, { orgId }) => [{ resource: 'organization', id: orgId, lock: 'update' }],
  decide: ({ name }, { orgId, now }, rows) => {
    const before = rows.get<OrganizationRow>('organization', orgId);
    if (!before) {
      const row = newOrganization(orgId, name, 0, now);
      return accepted([change(organizationMachine, 'create', null, row)], 'organization', row);
    }
    return renamed(before, name, now);
  },
};

export const renameOrganization: CommandKind<{ readonly name: string }> = {
  name: 'organizations.rename',
  success: 'ok',
  reads: (_input, { orgId }) => [{ resource: 'organization', id: orgId, lock: 'update' }],
  decide: ({ name }, { orgId, wallNow }, rows) => {
    const before = rows.get<OrganizationRow>('organization', orgId);
    return before ? renamed(before, name, wallNow) : refuse('resource_not_found');
  },
};

export interface RequireTwoFactor {
  readonly isRequired: boolean;
  /** Whether the actor has a second factor, found by the prepare step. */
  readonly hasTwoFactor: boolean;
}

/** Requires a second factor of all members, or ends that. The server checks it with each request of a member. */
export const requireTwoFactor: PreparedCommand<RequireTwoFactor> = {
  name: 'organizations.require_two_factor',
  success: 'ok',
  needsPrepare: true,
  reads: (_input, { orgId }) => [{ resource: 'organization', id: orgId, lock: 'update' }],
  decide: ({ isRequired, hasTwoFactor }, { orgId, wallNow }, rows) => {
    const before = rows.get<OrganizationRow>('organization', orgId);
    if (!before) return refuse('resource_not_found');
    // The owner would lose the access to the organization, and to this setting.
    if (isRequired && !hasTwoFactor) return refuseWithoutTwoFactor();
    if (before.requiresTwoFactor === isRequired) return accepted([], 'organization', before);
    const row = {
      ...before,
      requiresTwoFactor: isRequired,
      version: before.version + 1,
      updatedAt: wallNow,
    };
    return accepted([change(organizationMachine, 'change_security', before, row)], 'organization', row);
  },
};

function refuseWithoutTwoFactor(): Refusal {
  return refuse('two_factor_required', {
    message: 'Turn on two-factor sign-in for your own account first.',
  });
}

export interface DeleteOrganization {
  readonly name: string | null;
}

export function refuseName(organization: OrganizationRow, name: string | null): Refusal | undefined {
  const isOther = name !== null && name !== organization.name;
  return isOther ? refuse('organization_name_mismatch', { param: '/name' }) : undefined;
}

/**
 * Deletes an organization with all of its records except the audit trail, where this command is the last row. A person confirms
 * with the name; the operator and the expiry worker identify the organization by its id.
 */
export const deleteOrganization: PreparedCommand<DeleteOrganization> = {
  name: 'organizations.delete',
  success: 'ok',
  needsPrepare: true,
  clears: true,
  deletes: true,
  reads: (_input, { orgId }) => [{ resource: 'organization', id: orgId, lock: 'update' }],
  decide: ({ name }, { orgId }, rows) => {
    const organization = rows.get<OrganizationRow>('organization', orgId);
    if (!organization) return refuse('resource_not_found');
    const refusal = refuseName(organization, name);
    if (refusal) return refusal;
    const shown = {
      object: 'organization',
      sandbox: true,
      status: 'deleted',
      id: orgId,
      name: organization.name,
    } as const;
    return { ok: true, changes: [], answer: { resource: 'organization', row: organization, shown } };
  },
};

export function newOrganization(
  orgId: Id<'organization'>,
  name: string,
  owners: number,
  now: Instant,
  expiresAt: Instant | null = null,
): OrganizationRow {
  return {
    ...{ orgId, id: orgId, name, owners, requiresTwoFactor: false, expiresAt },
    ...{ status: 'active', version: 1, createdAt: now, updatedAt: now },
  };
}

/** The change to the owner count when a member becomes an owner or stops being one. */
export function countOwners(before: OrganizationRow, difference: number, now: Instant): readonly Change[] {
  if (difference === 0) return [];
  const owners = before.owners + difference;
  const row = { ...before, owners, version: before.version + 1, updatedAt: now };
  return [change(organizationMachine, 'count_owners', before, row)];
}

function renamed(before: OrganizationRow, name: string, now: Instant) {
  if (before.name === name) return accepted([], 'organization', before);
  const row = { ...before, name, version: before.version + 1, updatedAt: now };
  return accepted([change(organizationMachine, 'rename', before, row)], 'organization', row);
}
