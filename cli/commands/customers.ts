import type { Command } from 'commander';
import type { Customer, CustomerCreate, CustomerUpdate, ListCustomersQuery } from '../../sdk/client.ts';
import { declare, group } from '../declare.ts';
import { fieldValues } from '../generated/values.ts';
import { fields } from '../layout.ts';
import { type SearchOptions, searchOptions, showPage, withoutUndefined } from '../paging.ts';
import { wrongUsage } from '../problem.ts';
import { choice, listOf, pairs } from '../reading.ts';

const clearable = ['name', 'email', 'phone', 'reference'] as const;

interface CreateOptions {
  readonly name?: string;
  readonly email?: string;
  readonly phone?: string;
  readonly reference?: string;
  readonly metadata?: Readonly<Record<string, string>>;
}

interface UpdateOptions extends CreateOptions {
  readonly clear?: readonly string[];
}

export function addCustomers(program: Command): void {
  const customers = group(program, 'customers', 'Create, update and archive customers');
  declare<CreateOptions>(customers, 'create', {
    summary: 'Create a customer',
    options: [
      ['--name <name>', 'name; this or the email is needed'],
      ['--email <address>', 'email address'],
      ['--phone <number>', 'phone number'],
      ['--reference <text>', 'your own reference'],
      ['--metadata <name=value>', 'your own data; may be repeated', pairs],
    ],
    examples: [['customers create --name "Ada Lovelace" --email ada@example.test']],
    run: async (session, { name, email, phone, reference, metadata }) => {
      if (name === undefined && email === undefined) throw wrongUsage('--name or --email is missing.');
      const body = withoutUndefined({ name, email, phone, reference, metadata }) as CustomerCreate;
      const customer = await (await session.sandbank()).customers.create(body);
      session.out.show(customer, () => customerText(customer));
      return undefined;
    },
  });
  declare<UpdateOptions>(customers, 'update <id>', {
    summary: 'Change fields of a customer',
    options: [
      ['--name <name>', 'new name'],
      ['--email <address>', 'new email address'],
      ['--phone <number>', 'new phone number'],
      ['--reference <text>', 'new reference'],
      ['--metadata <name=value>', 'replaces all metadata; may be repeated', pairs],
      ['--clear <fields>', `fields to clear: ${clearable.join(', ')}`, listOf(clearable)],
    ],
    examples: [
      ['customers update cus_... --email ada@example.test'],
      ['customers update cus_... --clear phone,reference'],
    ],
    run: async (session, { clear = [], ...fields }, id = '') => {
      const body = { ...withoutUndefined(fields), ...Object.fromEntries(clear.map((name) => [name, null])) };
      if (Object.keys(body).length === 0) throw wrongUsage('Pass at least one field to change.');
      const customer = await (await session.sandbank()).customers.update(id, body as CustomerUpdate);
      session.out.show(customer, () => customerText(customer));
      return undefined;
    },
  });
  declare(customers, 'archive <id>', {
    summary: 'Archive a customer: it stays readable but accepts no new payments',
    examples: [['customers archive cus_...']],
    run: async (session, _options, id = '') => {
      const customer = await (await session.sandbank()).customers.archive(id);
      session.out.show(customer, () => customerText(customer));
      return undefined;
    },
  });
  declare<SearchOptions & { readonly status?: string }>(customers, 'list', {
    summary: 'List customers, newest first',
    options: [
      ['--status <state>', 'active or archived', choice(...fieldValues.listCustomers.status)],
      ...searchOptions,
    ],
    examples: [['customers list --status active']],
    run: async (session, { status, search: q, limit, cursor }) => {
      const pages = (await session.sandbank()).customers.list(
        withoutUndefined({ status, q, limit, cursor }) as ListCustomersQuery,
      );
      await showPage(session.out, pages, ['CUSTOMER', 'STATUS', 'NAME', 'EMAIL'], (one) => [
        one.id,
        one.status,
        one.name ?? '',
        one.email ?? '',
      ]);
      return undefined;
    },
  });
  declare(customers, 'get <id>', {
    summary: 'Show a customer',
    examples: [['customers get cus_...']],
    run: async (session, _options, id = '') => {
      const customer = await (await session.sandbank()).customers.retrieve(id);
      session.out.show(customer, () => customerText(customer));
      return undefined;
    },
  });
}

function customerText({ id, status, name, email, phone, reference, metadata }: Customer): string {
  return fields([
    ['customer', id],
    ['status', status],
    ['name', name],
    ['email', email],
    ['phone', phone],
    ['reference', reference],
    [
      'metadata',
      Object.entries(metadata)
        .map((pair) => pair.join('='))
        .join(', '),
    ],
  ]);
}
