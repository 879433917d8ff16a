import { accepted, type CommandKind, change } from '../../kernel/command.ts';
import { defineMachine } from '../../kernel/machine.ts';
import type { Instant } from '../../kernel/table.ts';

/** What a developer registers: it owns API keys, and idempotency keys are unique within it. */
export const applicationMachine = defineMachine({
  resource: 'application',
  states: ['active'],
  moves: [
    { action: 'create', from: [], to: ['active'], event: 'created' },
    { action: 'rename', from: ['active'], to: ['active'], event: 'renamed' },
  ],
});

export interface ApplicationRow {
  readonly orgId: string;
  readonly id: string;
  readonly status: 'active';
  readonly version: number;
  readonly name: string;
  readonly createdAt: Instant;
  readonly updatedAt: Instant;
}

export interface DeclareApplication {
  readonly id: string;
  readonly name: string;
}

export const declareApplication: CommandKind<DeclareApplication> = {
  name: 'applications.declare',
  success: 'ok',
  reads: ({ id }) => [{ resource: 'application', id, lock: 'update' }],
  decide: ({ id, name }, { orgId, now }, rows) => {
    const before = rows.get<ApplicationRow>('application', id);
    if (!before) {
      const row: ApplicationRow = {
        orgId,
        id,
        status: 'active',
        version: 1,
        name,
        createdAt: now,
        updatedAt: now,
      };
      return accepted([change(applicationMachine, 'create', null, row)], 'application', row);
    }
    if (before.name === name) return accepted([], 'application', before);
    const row = { ...before, name, version: before.version + 1, updatedAt: now };
    return accepted([change(applicationMachine, 'rename', before.status, row)], 'application', row);
  },
};
