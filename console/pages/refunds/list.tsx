import { Undo2 } from 'lucide-react';
import { useFilters } from '../../client/filters.ts';
import { useList } from '../../client/queries.ts';
import type { Refund } from '../../client/shapes.ts';
import { Anchor } from '../../parts/anchor.tsx';
import { buttonClass } from '../../parts/button.tsx';
import { EmptyState } from '../../parts/empty-state.tsx';
import { FilterText } from '../../parts/filter-bar.tsx';
import { PageHeader } from '../../parts/page-header.tsx';
import { Pager } from '../../parts/pager.tsx';
import { StatusBadge } from '../../parts/status-badge.tsx';
import { type Column, Table } from '../../parts/table.tsx';
import { Time } from '../../parts/time.tsx';
import { AmountCell } from '../records/amount-cell.tsx';
import { RecordFilters } from '../records/filters.tsx';
import { Hits } from '../records/hits.tsx';

const statuses: readonly Refund['status'][] = ['pending', 'succeeded', 'failed', 'canceled'];

const columns: readonly Column<Refund>[] = [
  {
    header: 'Amount',
    cell: ({ amount, currency, id, createdAt }) => (
      <AmountCell amount={amount} currency={currency} id={id} at={createdAt} />
    ),
  },
  { header: 'Status', cell: ({ status }) => <StatusBadge status={status} /> },
  {
    header: 'Reason',
    isWide: true,
    isMinor: true,
    cell: ({ reason }) => reason ?? <span className="text-faint">No reason</span>,
  },
  {
    header: 'Payment',
    isMinor: true,
    cell: ({ paymentId }) => <span className="font-mono text-[0.75rem] text-muted">{paymentId}</span>,
  },
  { header: 'Created', isMinor: true, cell: ({ createdAt }) => <Time at={createdAt} /> },
];

export function RefundList() {
  const [{ q, ...filters }, setFilters] = useFilters(
    'q',
    'status',
    'paymentId',
    'createdAfter',
    'createdBefore',
  );
  const list = useList<Refund>('app/developer_api_refunds', filters, { isEnabled: q === undefined });
  return (
    <>
      <PageHeader title="Refunds" />
      <RecordFilters
        values={{ q, ...filters }}
        onChange={setFilters}
        statuses={statuses}
        placeholder="Id of a refund or payment"
      >
        <FilterText
          label="Payment"
          placeholder="pay_…"
          value={filters.paymentId}
          onChange={(paymentId) => setFilters({ paymentId })}
        />
      </RecordFilters>
      {q === undefined ? (
        <Table
          caption="Refunds"
          columns={columns}
          rows={list.rows}
          rowKey={({ id }) => id}
          rowLink={({ id }) => `refunds/${id}`}
          isLoading={list.isLoading}
          isRefreshing={list.isRefreshing}
          problem={list.problem}
          empty={<NoRefunds isFiltered={Object.keys(filters).length > 0} />}
          footer={<Pager {...list.paging} />}
        />
      ) : (
        <Hits text={q} kind="refund" />
      )}
    </>
  );
}

function NoRefunds({ isFiltered }: { readonly isFiltered: boolean }) {
  if (isFiltered) return <EmptyState title="No refund fits">Change or clear the filters above.</EmptyState>;
  return (
    <EmptyState
      icon={<Undo2 aria-hidden size={20} />}
      title="No refunds yet"
      action={
        <Anchor to="payments" search={{ status: 'captured' }} className={buttonClass('primary')}>
          See captured payments
        </Anchor>
      }
    >
      A refund gives back what a payment has captured, in part or whole. Make one on the page of a captured
      payment.
    </EmptyState>
  );
}
