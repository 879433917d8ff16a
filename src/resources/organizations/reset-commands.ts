import { accepted, type Change, type PreparedCommand } from '../../kernel/command.ts';
import { type Refusal, refuse } from '../../kernel/errors.ts';
import type { Id } from '../../kernel/ids.ts';
import { clockIdOf } from '../../kernel/time.ts';
import { moveClock, refuseBusy } from '../clocks/machine.ts';
import type { ClockRow } from '../clocks/table.ts';
import { refuseName } from './machine.ts';
import type { OrganizationRow } from './table.ts';

export interface ResetOrganization {
  /** All applications of the organization, found by the prepare step. */
  readonly appIds: readonly Id<'application'>[];
  readonly isPermitted: boolean;
  /** A person confirms with the name of the organization; null for a key and the operator. */
  readonly name: string | null;
}

export function refuseUnpermitted({
  isPermitted,
}: Pick<ResetOrganization, 'isPermitted'>): Refusal | undefined {
  return isPermitted ? undefined : refuse('reset_not_permitted');
}

/**
 * Deletes all records of an organization and returns its clocks to real time. The configuration stays (applications, keys,
 * webhooks, members), as does the audit trail. Refused while a clock is being advanced, because the advance would continue in an
 * empty organization.
 */
export const resetOrganization: PreparedCommand<ResetOrganization> = {
  name: 'organizations.reset',
  success: 'ok',
  needsPrepare: true,
  clears: true,
  reads: ({ appIds }, { orgId }) => [
    { resource: 'organization', id: orgId, lock: 'none' },
    ...appIds.map((appId) => ({ resource: 'clock', id: clockIdOf(appId), lock: 'update' }) as const),
  ],
  authorize: refuseUnpermitted,
  decide: ({ appIds, name }, { orgId, wallNow }, rows) => {
    const organization = rows.get<OrganizationRow>('organization', orgId);
    if (!organization) return refuse('resource_not_found');
    const isOther = refuseName(organization, name);
    if (isOther) return isOther;
    const changes: Change[] = [];
    for (const appId of appIds) {
      const clock = rows.get<ClockRow>('clock', clockIdOf(appId));
      if (!clock) continue;
      const busy = refuseBusy(clock);
      if (busy) return busy;
      if (clock.status === 'running' && clock.offsetMs === 0n) continue;
      const patch = { status: 'running', frozenAt: null, offsetMs: 0n } as const;
      changes.push(moveClock(clock, 'reset', patch, wallNow));
    }
    // From here it must succeed.
    const shown = { object: 'reset', sandbox: true, status: 'ok' } as const;
    const { answer } = accepted([], 'organization', organization);
    return { ok: true, changes, answer: { ...answer, shown } };
  },
};
