import { accepted, type CommandKind, change } from '../../kernel/command.ts';
import { defineMachine } from '../../kernel/machine.ts';
import type { Instant } from '../../kernel/table.ts';
import { defaultTerms, type Terms } from '../../kernel/terms.ts';

/** What a developer registers: it owns API keys, and idempotency keys are unique within it. */
export const applicationMachine = defineMachine<ApplicationRow>({
  resource: 'application',
  states: ['active'],
  moves: [
    { action: 'create', from: [], to: ['active'], event: 'created' },
    { action: 'update', from: ['active'], to: ['active'], event: 'updated' },
  ],
});

export interface ApplicationRow extends Terms {
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
  /** What is absent stays as it is, and is the default for a new application. */
  readonly terms: Partial<Terms>;
}

export const declareApplication: CommandKind<DeclareApplication> = {
  name: 'applications.declare',
  success: 'ok',
  reads: ({ id }) => [{ resource: 'application', id, lock: 'update' }],
  decide: ({ id, name, terms }, { orgId, now }, rows) => {
    const before = rows.get<ApplicationRow>('application', id);
    if (!before) {
      const row: ApplicationRow = {
        orgId,
        id,
        status: 'active',
        version: 1,
        name,
        ...defaultTerms,
        ...terms,
        createdAt: now,
        updatedAt: now,
      };
      return accepted([change(applicationMachine, 'create', null, row)], 'application', row);
    }
    const after = { ...before, name, ...terms };
    if (isSame(before, after)) return accepted([], 'application', before);
    const row = { ...after, version: before.version + 1, updatedAt: now };
    return accepted([change(applicationMachine, 'update', before, row)], 'application', row);
  },
};

function isSame(a: ApplicationRow, b: ApplicationRow): boolean {
  return (
    a.name === b.name &&
    a.feeBasisPoints === b.feeBasisPoints &&
    a.feeFixed === b.feeFixed &&
    a.provider === b.provider &&
    a.fxMarginBasisPoints === b.fxMarginBasisPoints &&
    isSameRates(a.fxRates, b.fxRates)
  );
}

function isSameRates(a: Terms['fxRates'], b: Terms['fxRates']): boolean {
  const pairs = Object.keys(a);
  return pairs.length === Object.keys(b).length && pairs.every((pair) => a[pair] === b[pair]);
}
