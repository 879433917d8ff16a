import { type Accepted, accepted, type CommandKind, type PreparedCommand } from '../../kernel/command.ts';
import type { Presented } from '../../kernel/envelope.ts';
import { refuse } from '../../kernel/errors.ts';
import type { OrganizationRow } from './table.ts';

const readsOrganization: CommandKind<unknown>['reads'] = (_input, { orgId }) => [
  { resource: 'organization', id: orgId, lock: 'none' },
];

/** A command that changes no row and only adds an entry to the audit trail. */
function auditCommand(name: string): CommandKind<null> {
  return {
    name,
    success: 'ok',
    reads: readsOrganization,
    decide: (_input, { orgId }, rows) => {
      const organization = rows.get<OrganizationRow>('organization', orgId);
      return organization ? accepted([], 'organization', organization) : refuse('resource_not_found');
    },
  };
}

/** Records an export. */
export const exportOrganization = auditCommand('organizations.export');

/** Records a fork by the operator. A fork by a person starts with `beginFork`, which adds the same audit entry. */
export const forkOrganization = auditCommand('organizations.fork');

/** Records an import from a snapshot. */
export const importOrganization = auditCommand('organizations.import');

/** Records that a person restored an uploaded snapshot, and refusals of it. */
export const restoreOrganization = auditCommand('organizations.restore');

/** Longer than a fork takes. */
const deadAfterMs = 120_000;

/** The first command of a fork. A retry of the same request receives "in progress" and does not start a second fork. */
export const beginFork: PreparedCommand<{ readonly name: string }> = {
  name: forkOrganization.name,
  success: 'created',
  needsPrepare: true,
  reads: readsOrganization,
  retakenAfterMs: deadAfterMs,
  answersWithSecret: true,
  decide: (_input, context, rows) => {
    const decision = exportOrganization.decide(null, context, rows);
    return decision.ok ? { ...decision, isInterim: true } : decision;
  },
};

export interface ConcludeFork {
  readonly shown: Presented;
  /** The fields of `shown` that contain the keys and secrets of the fork. */
  readonly secrets: Readonly<Record<string, unknown>>;
}

/** The last command of a fork: only its response shows the keys of the fork. */
export const concludeFork: CommandKind<ConcludeFork> = {
  name: 'organizations.fork_made',
  success: 'created',
  concludes: true,
  answersWithSecret: true,
  reads: readsOrganization,
  decide: ({ shown, secrets }, context, rows) => {
    const decision = exportOrganization.decide(null, context, rows);
    if (!decision.ok) return decision;
    const answer: Accepted['answer'] = { ...decision.answer, shown };
    return { ...decision, answer, secrets };
  },
};
