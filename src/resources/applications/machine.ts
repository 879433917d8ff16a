import {
  type ApplicationSettings,
  defaultApplicationSettings,
  type WebhookDefaults,
} from '../../kernel/application-settings.ts';
import { accepted, type CommandKind, change, type LoadedRows } from '../../kernel/command.ts';
import { type Refusal, refuse } from '../../kernel/errors.ts';
import { formatId } from '../../kernel/ids.ts';
import { limits } from '../../kernel/limits.ts';
import { defineMachine, refuseMove } from '../../kernel/machine.ts';
import type { Instant } from '../../kernel/table.ts';
import type { ApplicationRow } from './table.ts';

/**
 * What a developer registers: it owns API keys, and idempotency keys are unique within it. The keys of an archived one do not
 * work; its records stay, and what their clock still owes goes on.
 */
export const applicationMachine = defineMachine<ApplicationRow>({
  resource: 'application',
  states: ['active', 'archived'],
  moves: [
    { action: 'create', from: [], to: ['active'], event: 'created' },
    { action: 'update', from: ['active'], to: ['active'], event: 'updated' },
    { action: 'archive', from: ['active'], to: ['archived'] },
    { action: 'restore', from: ['archived'], to: ['active'], event: 'restored' },
  ],
});

export interface DeclareApplication {
  readonly id: string;
  readonly name: string;
  /** What is absent stays as it is, and is the default for a new application. */
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
    // What a person has put away, the file does not bring back.
    if (before.status === 'archived') return accepted([], 'application', before);
    return updated(before, { name, ...settings }, now);
  },
};

export function newApplication(
  orgId: string,
  id: string,
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
  /** How many there are already, counted before. */
  readonly others: number;
}

export const createApplication: CommandKind<CreateApplication> = {
  name: 'applications.create',
  success: 'created',
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

export const updateApplication: CommandKind<{
  readonly id: string;
  readonly patch: Partial<ApplicationSettings & Pick<ApplicationRow, 'name'>>;
}> = {
  name: 'applications.update',
  success: 'ok',
  reads: ({ id }) => [{ resource: 'application', id, lock: 'update' }],
  decide: ({ id, patch }, { wallNow }, rows) => {
    const before = ready(rows, id, 'update');
    return 'ok' in before ? before : updated(before, patch, wallNow);
  },
};

const moving = (
  action: 'archive' | 'restore',
  status: ApplicationRow['status'],
): CommandKind<{ readonly id: string }> => ({
  name: `applications.${action}`,
  success: 'ok',
  reads: ({ id }) => [{ resource: 'application', id, lock: 'update' }],
  decide: ({ id }, { wallNow }, rows) => {
    const before = ready(rows, id, action);
    if ('ok' in before) return before;
    const row = { ...before, status, version: before.version + 1, updatedAt: wallNow };
    return accepted([change(applicationMachine, action, before, row)], 'application', row);
  },
});

export const archiveApplication = moving('archive', 'archived');
export const restoreApplication = moving('restore', 'active');

function ready(rows: LoadedRows, id: string, action: string): ApplicationRow | Refusal {
  const before = rows.get<ApplicationRow>('application', id);
  if (!before) return refuse('resource_not_found');
  return refuseMove(applicationMachine, action, before) ?? before;
}

function updated(before: ApplicationRow, patch: Partial<ApplicationRow>, now: Instant) {
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
