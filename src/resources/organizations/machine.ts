import { accepted, type CommandKind, change } from '../../kernel/command.ts';
import { defineMachine } from '../../kernel/machine.ts';
import type { Instant } from '../../kernel/table.ts';

/** The tenant. Everything belongs to one, and nothing of one is ever seen by another. */
export const organizationMachine = defineMachine<OrganizationRow>({
  resource: 'organization',
  states: ['active'],
  moves: [
    { action: 'create', from: [], to: ['active'], event: 'created' },
    { action: 'rename', from: ['active'], to: ['active'], event: 'renamed' },
  ],
});

export interface OrganizationRow {
  readonly orgId: string;
  readonly id: string;
  readonly status: 'active';
  readonly version: number;
  readonly name: string;
  readonly createdAt: Instant;
  readonly updatedAt: Instant;
}

/** Makes the organization so, whether it was there or not: a seed file can be applied at every start. */
export const declareOrganization: CommandKind<{ readonly name: string }> = {
  name: 'organizations.declare',
  success: 'ok',
  reads: (_input, { orgId }) => [{ resource: 'organization', id: orgId, lock: 'update' }],
  decide: ({ name }, { orgId, now }, rows) => {
    const before = rows.get<OrganizationRow>('organization', orgId);
    if (!before) {
      const row: OrganizationRow = {
        orgId,
        id: orgId,
        status: 'active',
        version: 1,
        name,
        createdAt: now,
        updatedAt: now,
      };
      return accepted([change(organizationMachine, 'create', null, row)], 'organization', row);
    }
    if (before.name === name) return accepted([], 'organization', before);
    const row = { ...before, name, version: before.version + 1, updatedAt: now };
    return accepted([change(organizationMachine, 'rename', before, row)], 'organization', row);
  },
};
