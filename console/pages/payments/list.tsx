import { CreditCard, Plus } from 'lucide-react';
import { useFilters, useOpenParam } from '../../client/filters.ts';
import { useList } from '../../client/queries.ts';
import type { Payment } from '../../client/shapes.ts';
import { useAllowed } from '../../frame/session.tsx';
import { Button } from '../../parts/button.tsx';
import { EmptyState } from '../../parts/empty-state.tsx';
import { FilterText } from '../../parts/filter-bar.tsx';
import { PageHeader } from '../../parts/page-header.tsx';
import { Pager } from '../../parts/pager.tsx';
import { Table } from '../../parts/table.tsx';
import { RecordFilters } from '../records/filters.tsx';
import { Hits } from '../records/hits.tsx';
import { paymentColumns, paymentStatuses } from './columns.tsx';
import { PaymentCreate } from './create.tsx';

/** One page of rows at a time, whatever the number of payments: the server filters and pages. */
export function PaymentList() {
  const mayWrite = useAllowed('developer');
  const [isCreating, setCreating] = useOpenParam('create');
  const [{ q, ...filters }, setFilters] = useFilters(
    'q',
    'status',
    'customerId',
    'reference',
    'createdAfter',
    'createdBefore',
  );
  const list = useList<Payment>('app/developer_api_payments', filters, { isEnabled: q === undefined });
  const isFiltered = Object.keys(filters).length > 0;
  const create = mayWrite ? (
    <Button look="primary" icon={<Plus aria-hidden size={16} />} onClick={() => setCreating(true)}>
      Create payment
    </Button>
  ) : undefined;
  return (
    <>
      <PageHeader title="Payments" actions={create} />
      <RecordFilters
        values={{ q, ...filters }}
        onChange={setFilters}
        statuses={paymentStatuses}
        placeholder="Id, reference or customer"
      >
        <FilterText
          label="Customer"
          placeholder="cus_…"
          value={filters.customerId}
          onChange={(customerId) => setFilters({ customerId })}
        />
        <FilterText
          label="Reference"
          placeholder="Exact reference"
          value={filters.reference}
          onChange={(reference) => setFilters({ reference })}
        />
      </RecordFilters>
      {q === undefined ? (
        <Table
          caption="Payments"
          columns={paymentColumns}
          rows={list.rows}
          rowKey={({ id }) => id}
          rowLink={({ id }) => `payments/${id}`}
          isLoading={list.isLoading}
          isRefreshing={list.isRefreshing}
          problem={list.problem}
          empty={<NoPayments isFiltered={isFiltered} action={create} />}
          footer={<Pager {...list.paging} />}
        />
      ) : (
        <Hits text={q} kind="payment" />
      )}
      {isCreating && mayWrite ? <PaymentCreate onClose={() => setCreating(false)} /> : null}
    </>
  );
}

function NoPayments({
  isFiltered,
  action,
}: {
  readonly isFiltered: boolean;
  readonly action: React.ReactNode;
}) {
  if (isFiltered) return <EmptyState title="No payment fits">Change or clear the filters above.</EmptyState>;
  return (
    <EmptyState icon={<CreditCard aria-hidden size={20} />} title="No payments yet" action={action}>
      A payment takes money from a customer. Create one here or over the API, choose what the simulated
      provider does with it, and walk it through its states.
    </EmptyState>
  );
}
