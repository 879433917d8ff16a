import type { Command } from 'commander';
import type { Customer, CustomerCreate, ListCustomersQuery } from '../../sdk/client.ts';
import { declare, group } from '../declare.ts';
import { fieldValues } from '../generated/values.ts';
import { fields } from '../layout.ts';
import { given, type PageOptions, pageOptions, showPage } from '../paging.ts';
import { wrongUsage } from '../problem.ts';
import { choice, pairs } from '../reading.ts';

interface CreateOptions {
  readonly name?: string;
  readonly email?: string;
  readonly phone?: string;
  readonly reference?: string;
  readonly metadata?: Readonly<Record<string, string>>;
}

export function addCustomers(program: Command): void {
  const customers = group(program, 'customers', 'Create and look up customers');
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
      const body = given({ name, email, phone, reference, metadata }) as CustomerCreate;
      const customer = await (await session.sandbank()).customers.create(body);
      session.out.show(customer, () => customerText(customer));
      return undefined;
    },
  });
  declare<PageOptions & { readonly status?: string }>(customers, 'list', {
    summary: 'List customers, newest first',
    options: [
      ['--status <state>', 'active or archived', choice(...fieldValues.listCustomers.status)],
      ...pageOptions,
    ],
    examples: [['customers list --status active']],
    run: async (session, { status, limit, cursor }) => {
      const pages = (await session.sandbank()).customers.list(
        given({ status, limit, cursor }) as ListCustomersQuery,
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

function customerText({ id, status, name, email, phone, reference }: Customer): string {
  return fields([
    ['customer', id],
    ['status', status],
    ['name', name],
    ['email', email],
    ['phone', phone],
    ['reference', reference],
  ]);
}
