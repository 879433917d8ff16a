import {
  accepted,
  type CommandContext,
  type CommandKind,
  change,
  type Decision,
  type LoadedRows,
  type Read,
} from '../../kernel/command.ts';
import { type Refusal, refuse } from '../../kernel/errors.ts';
import { formatId, type Id } from '../../kernel/ids.ts';
import { type ActionOf, defineMachine, refuseMove } from '../../kernel/machine.ts';
import type { CustomerRow } from './table.ts';

export const customerMachine = defineMachine<CustomerRow>()({
  resource: 'customer',
  states: ['active', 'archived'],
  setbacks: ['archived'],
  moves: [
    { action: 'create', from: [], to: ['active'], event: 'created' },
    { action: 'update', from: ['active'], to: ['active'], event: 'updated' },
    { action: 'archive', from: ['active'], to: ['archived'], event: 'archived' },
  ],
  eventDescriptions: {
    created: 'A customer was created.',
    updated: 'Details of a customer were changed.',
    archived: 'A customer was archived, and no new payment or transfer can name it.',
  },
});

type CustomerAction = ActionOf<typeof customerMachine>;

export type CustomerFields = Pick<CustomerRow, 'name' | 'email' | 'phone' | 'reference' | 'metadata'>;

export const createCustomer: CommandKind<CustomerFields> = {
  name: 'customers.create',
  success: 'created',
  reads: () => [],
  decide: (fields, context) => {
    if (context.appId === null) throw new Error('a customer belongs to an application');
    const row: CustomerRow = {
      orgId: context.orgId,
      id: formatId('customer', context.suffix),
      appId: context.appId,
      status: 'active',
      version: 1,
      ...fields,
      createdAt: context.now,
      updatedAt: context.now,
    };
    return accepted([change(customerMachine, 'create', null, row)], 'customer', row);
  },
};

export interface UpdateCustomer {
  readonly id: Id<'customer'>;
  /** Absent fields do not change; null clears a field. `metadata` is replaced as a whole. */
  readonly fields: Partial<CustomerFields>;
}

export const updateCustomer: CommandKind<UpdateCustomer> = {
  name: 'customers.update',
  success: 'ok',
  reads: ({ id }) => [{ resource: 'customer', id, lock: 'update' }],
  decide: ({ id, fields }, context, rows) => {
    const found = findFor('update', id, rows);
    if (!found.ok) return found;
    const next = { ...found.row, ...fields };
    if (next.name === null && next.email === null) return refuse('customer_identity_missing');
    return acceptedMove('update', found.row, next, context);
  },
};

export const archiveCustomer: CommandKind<{ readonly id: Id<'customer'> }> = {
  name: 'customers.archive',
  success: 'ok',
  reads: ({ id }) => [{ resource: 'customer', id, lock: 'update' }],
  decide: ({ id }, context, rows) => {
    const found = findFor('archive', id, rows);
    if (!found.ok) return found;
    return acceptedMove('archive', found.row, { ...found.row, status: 'archived' }, context);
  },
};

/** The checks before every customer move, in their documented order: existence, then state. */
function findFor(
  action: CustomerAction,
  id: Id<'customer'>,
  rows: LoadedRows,
): { ok: true; row: CustomerRow } | Refusal {
  const row = rows.get<CustomerRow>('customer', id);
  if (!row) return refuse('resource_not_found');
  return refuseMove(customerMachine, action, row) ?? { ok: true, row };
}

function acceptedMove(
  action: CustomerAction,
  before: CustomerRow,
  after: CustomerRow,
  context: CommandContext,
): Decision {
  const row = { ...after, version: before.version + 1, updatedAt: context.now };
  return accepted([change(customerMachine, action, before, row)], 'customer', row);
}

/** For records that may name a customer. The share lock prevents archiving between this read and the commit. */
export function readsCustomer({
  customerId,
}: {
  readonly customerId: Id<'customer'> | null;
}): readonly Read[] {
  return customerId === null ? [] : [{ resource: 'customer', id: customerId, lock: 'share' }];
}

export function refuseCustomer(customerId: Id<'customer'> | null, rows: LoadedRows): Refusal | undefined {
  if (customerId === null) return undefined;
  const customer = rows.get<CustomerRow>('customer', customerId);
  if (!customer) return refuse('customer_not_found', { param: '/customerId' });
  return customer.status === 'archived' ? refuse('customer_archived', { param: '/customerId' }) : undefined;
}
