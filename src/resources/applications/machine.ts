import {
  type ApplicationSettings,
  defaultApplicationSettings,
  type WebhookDefaults,
} from '../../kernel/application-settings.ts';
import {
  accepted,
  type CommandKind,
  change,
  type LoadedRows,
  type PreparedCommand,
} from '../../kernel/command.ts';
import { type Refusal, refuse } from '../../kernel/errors.ts';
import { formatId, type Id } from '../../kernel/ids.ts';
import { limits } from '../../kernel/limits.ts';
import { type ActionOf, defineMachine, refuseMove } from '../../kernel/machine.ts';
import type { Instant } from '../../kernel/table.ts';
import type { ApplicationRow } from './table.ts';

/**
 * Developers register applications. An application owns API keys, and idempotency keys are unique within it. The keys of an
 * archived application do not work; its records stay, and their timers still fire.
 */
export const applicationMachine = defineMachine<ApplicationRow>()({
  resource: 'application',
  states: ['active', 'archived'],
  moves: [
    { action: 'create', from: [], to: ['active'], event: 'created' },
    { action: 'update', from: ['active'], to: ['active'], event: 'updated' },
    { action: 'archive', from: ['active'], to: ['archived'] },
    { action: 'restore', from: ['archived'], to: ['active'], event: 'restored' },
  ],
});

type ApplicationAction = ActionOf<typeof applicationMachine>;

export interface DeclareApplication {
  readonly id: Id<'application'>;
  readonly name: string;
  /** Absent settings do not change; a new application gets the defaults. */
  readonly settings: Partial<ApplicationSettings>;
}

export const declareApplication: CommandKind<DeclareApplication> = {
  name: 'applications.declare',
  success: 'ok',
  reads: ({ id }) => [{ resource: 'application', id, lock: 'update' }],
  decide: ({ id, name, settings }, { orgId, now }, rows) => {
    const before = rows.get<ApplicationRow>('application', id);
    if (!before) {
      const row = newApplication(orgId, id, name, settings, now);
      return accepted([change(applicationMachine, 'create', null, row)], 'application', row);
    }
    // The seed file does not restore an application that a person has archived.
    if (before.status === 'archived') return accepted([], 'application', before);
    return applyPatch(before, { name, ...settings }, now);
  },
};

export function newApplication(
  orgId: Id<'organization'>,
  id: Id<'application'>,
  name: string,
  settings: Partial<ApplicationSettings>,
  now: Instant,
): ApplicationRow {
  return {
    ...{ orgId, id, name, ...defaultApplicationSettings, ...settings },
    ...{ status: 'active', version: 1, createdAt: now, updatedAt: now },
  };
}

export interface CreateApplication {
  readonly name: string;
  readonly settings: Partial<ApplicationSettings>;
  /** The number of existing applications, counted before the command. */
  readonly others: number;
}

export const createApplication: PreparedCommand<CreateApplication> = {
  name: 'applications.create',
  success: 'created',
  needsPrepare: true,
  reads: () => [],
  decide: ({ name, settings, others }, { orgId, suffix, wallNow }) => {
    if (others >= limits.applicationsMax)
      return refuse('limit_reached', {
        message: `An organization has at most ${limits.applicationsMax} applications.`,
      });
    const row = newApplication(orgId, formatId('application', suffix), name, settings, wallNow);
    return accepted([change(applicationMachine, 'create', null, row)], 'application', row);
  },
};

export interface UpdateApplication {
  readonly id: Id<'application'>;
  readonly patch: Partial<ApplicationSettings & Pick<ApplicationRow, 'name'>>;
}

export const updateApplication: PreparedCommand<UpdateApplication> = {
  name: 'applications.update',
  success: 'ok',
  needsPrepare: true,
  reads: ({ id }) => [{ resource: 'application', id, lock: 'update' }],
  decide: ({ id, patch }, { wallNow }, rows) => {
    const before = findFor(rows, id, 'update');
    return 'ok' in before ? before : applyPatch(before, patch, wallNow);
  },
};

const statusCommand = (
  action: 'archive' | 'restore',
  status: ApplicationRow['status'],
): CommandKind<{ readonly id: Id<'application'> }> => ({
  name: `applications.${action}`,
  success: 'ok',
  reads: ({ id }) => [{ resource: 'application', id, lock: 'update' }],
  decide: ({ id }, { wallNow }, rows) => {
    const before = findFor(rows, id, action);
    if ('ok' in before) return before;
    const row = { ...before, status, version: before.version + 1, updatedAt: wallNow };
    return accepted([change(applicationMachine, action, before, row)], 'application', row);
  },
});

export const archiveApplication = statusCommand('archive', 'archived');
export const restoreApplication = statusCommand('restore', 'active');

function findFor(
  rows: LoadedRows,
  id: Id<'application'>,
  action: ApplicationAction,
): ApplicationRow | Refusal {
  const before = rows.get<ApplicationRow>('application', id);
  if (!before) return refuse('resource_not_found');
  return refuseMove(applicationMachine, action, before) ?? before;
}

function applyPatch(before: ApplicationRow, patch: Partial<ApplicationRow>, now: Instant) {
  const after = { ...before, ...patch };
  if (isSame(before, after)) return accepted([], 'application', before);
  const row = { ...after, version: before.version + 1, updatedAt: now };
  return accepted([change(applicationMachine, 'update', before, row)], 'application', row);
}

function isSame(a: ApplicationRow, b: ApplicationRow): boolean {
  return (
    a.name === b.name &&
    a.feeBasisPoints === b.feeBasisPoints &&
    a.feeFixed === b.feeFixed &&
    a.provider === b.provider &&
    a.fxMarginBasisPoints === b.fxMarginBasisPoints &&
    isSameRates(a.fxRates, b.fxRates) &&
    isSameDefaults(a.webhookDefaults, b.webhookDefaults)
  );
}

function isSameRates(a: ApplicationSettings['fxRates'], b: ApplicationSettings['fxRates']): boolean {
  const pairs = Object.keys(a);
  return pairs.length === Object.keys(b).length && pairs.every((pair) => a[pair] === b[pair]);
}

function isSameDefaults(a: WebhookDefaults, b: WebhookDefaults): boolean {
  return (
    a.retryProfile === b.retryProfile &&
    a.maxConcurrency === b.maxConcurrency &&
    a.eventTypes.join() === b.eventTypes.join()
  );
}
