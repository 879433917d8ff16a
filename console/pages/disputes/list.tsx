import { ShieldAlert } from 'lucide-react';
import { useFilters } from '../../client/filters.ts';
import { useList } from '../../client/queries.ts';
import type { Dispute } from '../../client/shapes.ts';
import { Anchor } from '../../parts/anchor.tsx';
import { buttonClass } from '../../parts/button.tsx';
import { EmptyState } from '../../parts/empty-state.tsx';
import { FilterText } from '../../parts/filter-bar.tsx';
import { PageHeader } from '../../parts/page-header.tsx';
import { Pager } from '../../parts/pager.tsx';
import { StatusBadge } from '../../parts/status-badge.tsx';
import { type Column, Table } from '../../parts/table.tsx';
import { Time } from '../../parts/time.tsx';
import { sentence } from '../../parts/words.ts';
import { AmountCell } from '../records/amount-cell.tsx';
import { RecordFilters } from '../records/filters.tsx';
import { Hits } from '../records/hits.tsx';

const statuses: readonly Dispute['status'][] = ['needs_response', 'under_review', 'won', 'lost'];

const columns: readonly Column<Dispute>[] = [
  {
    header: 'Amount',
    cell: ({ amount, currency, id, createdAt }) => (
      <AmountCell amount={amount} currency={currency} id={id} at={createdAt} />
    ),
  },
  { header: 'Status', cell: ({ status }) => <StatusBadge status={status} /> },
  { header: 'Reason', isWide: true, isMinor: true, cell: ({ reason }) => reason },
  { header: 'Stage', isMinor: true, cell: ({ stage }) => sentence(stage) },
  {
    header: 'Respond by',
    cell: ({ status, respondBy }) =>
      status === 'needs_response' ? <Time at={respondBy} /> : <span className="text-faint">—</span>,
  },
  { header: 'Created', isMinor: true, cell: ({ createdAt }) => <Time at={createdAt} /> },
];

export function DisputeList() {
  const [{ q, ...filters }, setFilters] = useFilters(
    'q',
    'status',
    'paymentId',
    'createdAfter',
    'createdBefore',
  );
  const list = useList<Dispute>('app/developer_api_disputes', filters, { isEnabled: q === undefined });
  return (
    <>
      <PageHeader title="Disputes" />
      <RecordFilters
        values={{ q, ...filters }}
        onChange={setFilters}
        statuses={statuses}
        placeholder="Id of a dispute or payment"
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
          caption="Disputes"
          columns={columns}
          rows={list.rows}
          rowKey={({ id }) => id}
          rowLink={({ id }) => `disputes/${id}`}
          isLoading={list.isLoading}
          isRefreshing={list.isRefreshing}
          problem={list.problem}
          empty={<NoDisputes isFiltered={Object.keys(filters).length > 0} />}
          footer={<Pager {...list.paging} />}
        />
      ) : (
        <Hits text={q} kind="dispute" />
      )}
    </>
  );
}

function NoDisputes({ isFiltered }: { readonly isFiltered: boolean }) {
  if (isFiltered) return <EmptyState title="No dispute fits">Change or clear the filters above.</EmptyState>;
  return (
    <EmptyState
      icon={<ShieldAlert aria-hidden size={20} />}
      title="No disputes yet"
      action={
        <Anchor to="payments" search={{ create: '1' }} className={buttonClass('primary')}>
          Create a payment to dispute
        </Anchor>
      }
    >
      A dispute is a customer’s objection to a payment. Make a payment with the scenario “dispute”, or take
      the action “dispute” on a captured one.
    </EmptyState>
  );
}
