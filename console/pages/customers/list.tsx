import { useNavigate } from '@tanstack/react-router';
import { Plus, Users } from 'lucide-react';
import { useFilters, useOpenParam } from '../../client/filters.ts';
import { useList } from '../../client/queries.ts';
import { useScope } from '../../client/scope.ts';
import type { Customer } from '../../client/shapes.ts';
import { useAllowed } from '../../frame/session.tsx';
import { Button } from '../../parts/button.tsx';
import { EmptyState } from '../../parts/empty-state.tsx';
import { FilterText } from '../../parts/filter-bar.tsx';
import { PageHeader } from '../../parts/page-header.tsx';
import { Pager } from '../../parts/pager.tsx';
import { StatusBadge } from '../../parts/status-badge.tsx';
import { type Column, Table } from '../../parts/table.tsx';
import { Time } from '../../parts/time.tsx';
import { RecordFilters } from '../records/filters.tsx';
import { Hits } from '../records/hits.tsx';
import { CustomerForm } from './form.tsx';

const columns: readonly Column<Customer>[] = [
  { header: 'Name', cell: ({ name, email, id }) => name ?? email ?? id },
  { header: 'Email', isWide: true, isMinor: true, cell: ({ email }) => email },
  { header: 'Reference', isMinor: true, cell: ({ reference }) => reference },
  { header: 'Status', cell: ({ status }) => <StatusBadge status={status} /> },
  {
    header: 'Id',
    isMinor: true,
    cell: ({ id }) => <span className="font-mono text-[0.75rem] text-muted">{id}</span>,
  },
  { header: 'Created', cell: ({ createdAt }) => <Time at={createdAt} /> },
];

export function CustomerList() {
  const mayWrite = useAllowed('developer');
  const { orgId } = useScope();
  const navigate = useNavigate();
  const [isCreating, setCreating] = useOpenParam('create');
  const [{ q, ...filters }, setFilters] = useFilters(
    'q',
    'status',
    'reference',
    'createdAfter',
    'createdBefore',
  );
  const list = useList<Customer>('app/developer_api_customers', filters, { isEnabled: q === undefined });
  const create = mayWrite ? (
    <Button look="primary" icon={<Plus aria-hidden size={16} />} onClick={() => setCreating(true)}>
      Create customer
    </Button>
  ) : undefined;
  return (
    <>
      <PageHeader title="Customers" actions={create} />
      <RecordFilters
        values={{ q, ...filters }}
        onChange={setFilters}
        statuses={['active', 'archived']}
        placeholder="Name, email, reference or id"
      >
        <FilterText
          label="Reference"
          placeholder="Exact reference"
          value={filters.reference}
          onChange={(reference) => setFilters({ reference })}
        />
      </RecordFilters>
      {q === undefined ? (
        <Table
          caption="Customers"
          columns={columns}
          rows={list.rows}
          rowKey={({ id }) => id}
          rowLink={({ id }) => `customers/${id}`}
          isLoading={list.isLoading}
          isRefreshing={list.isRefreshing}
          problem={list.problem}
          empty={<NoCustomers isFiltered={Object.keys(filters).length > 0} action={create} />}
          footer={<Pager {...list.paging} />}
        />
      ) : (
        <Hits text={q} kind="customer" />
      )}
      {isCreating && mayWrite ? (
        <CustomerForm
          onClose={() => setCreating(false)}
          onDone={({ id }) => void navigate({ to: `/${orgId}/customers/${id}` })}
        />
      ) : null}
    </>
  );
}

function NoCustomers({
  isFiltered,
  action,
}: {
  readonly isFiltered: boolean;
  readonly action: React.ReactNode;
}) {
  if (isFiltered) return <EmptyState title="No customer fits">Change or clear the filters above.</EmptyState>;
  return (
    <EmptyState icon={<Users aria-hidden size={20} />} title="No customers yet" action={action}>
      A customer is who pays. Payments and transfers can name one, and its page lists them.
    </EmptyState>
  );
}
