import { type Accepted, accepted, type CommandKind } from '../../kernel/command.ts';
import type { Presented } from '../../kernel/envelope.ts';
import { refuse } from '../../kernel/errors.ts';
import type { OrganizationRow } from './table.ts';

const readsOrganization: CommandKind<unknown>['reads'] = (_input, { orgId }) => [
  { resource: 'organization', id: orgId, lock: 'none' },
];

/** Changes nothing: what is done with a whole organization leaves a row in its audit trail. */
function noting(name: string): CommandKind<null> {
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

/** Somebody took a copy of it. */
export const exportOrganization = noting('organizations.export');

/** The operator forked it. A fork by a person begins with `beginFork`, which leaves the same row. */
export const forkOrganization = noting('organizations.fork');

/** It came from a snapshot. */
export const importOrganization = noting('organizations.import');

/** Longer than making a fork takes. */
const deadAfterMs = 120_000;

/** The first command of a fork: the same request again is told that it is in progress, and makes no second one. */
export const beginFork: CommandKind<{ readonly name: string }> = {
  name: forkOrganization.name,
  success: 'created',
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
  /** The fields of `shown` that have the keys and secrets of the fork. */
  readonly secrets: Readonly<Record<string, unknown>>;
}

/** The last one: the response shows the keys of the fork, once. */
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
