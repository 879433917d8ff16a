import { ArrowLeftRight, Plus } from 'lucide-react';
import { useFilters, useOpenParam } from '../../client/filters.ts';
import { useList } from '../../client/queries.ts';
import type { Transfer, TransferStatus } from '../../client/shapes.ts';
import { useAllowed } from '../../frame/session.tsx';
import { Button } from '../../parts/button.tsx';
import { EmptyState } from '../../parts/empty-state.tsx';
import { FilterText } from '../../parts/filter-bar.tsx';
import { Money } from '../../parts/money.tsx';
import { PageHeader } from '../../parts/page-header.tsx';
import { Pager } from '../../parts/pager.tsx';
import { StatusBadge } from '../../parts/status-badge.tsx';
import { type Column, Table } from '../../parts/table.tsx';
import { Time } from '../../parts/time.tsx';
import { AmountCell } from '../records/amount-cell.tsx';
import { RecordFilters } from '../records/filters.tsx';
import { Hits } from '../records/hits.tsx';
import { TransferCreate } from './create.tsx';

const statuses: readonly TransferStatus[] = [
  'quoted',
  'accepted',
  'funded',
  'in_review',
  'converted',
  'sent',
  'completed',
  'returned',
  'refunded',
  'canceled',
  'expired',
  'failed',
];

const columns: readonly Column<Transfer>[] = [
  {
    header: 'Source',
    cell: ({ sourceAmount, sourceCurrency, id, createdAt }) => (
      <AmountCell amount={sourceAmount} currency={sourceCurrency} id={id} at={createdAt} />
    ),
  },
  {
    header: 'Target',
    isMinor: true,
    cell: ({ targetAmount, targetCurrency }) => <Money amount={targetAmount} currency={targetCurrency} />,
  },
  { header: 'Status', cell: ({ status }) => <StatusBadge status={status} /> },
  {
    header: 'Beneficiary',
    isWide: true,
    isMinor: true,
    cell: ({ beneficiary }) => beneficiary?.name ?? <span className="text-faint">None yet</span>,
  },
  { header: 'Reference', isMinor: true, cell: ({ reference }) => reference },
  {
    header: 'Id',
    isMinor: true,
    cell: ({ id }) => <span className="font-mono text-[0.75rem] text-muted">{id}</span>,
  },
  { header: 'Created', isMinor: true, cell: ({ createdAt }) => <Time at={createdAt} /> },
];

export function TransferList() {
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
  const list = useList<Transfer>('app/developer_api_transfers', filters, { isEnabled: q === undefined });
  const create = mayWrite ? (
    <Button look="primary" icon={<Plus aria-hidden size={16} />} onClick={() => setCreating(true)}>
      Create transfer
    </Button>
  ) : undefined;
  return (
    <>
      <PageHeader title="Transfers" actions={create} />
      <RecordFilters
        values={{ q, ...filters }}
        onChange={setFilters}
        statuses={statuses}
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
          caption="Transfers"
          columns={columns}
          rows={list.rows}
          rowKey={({ id }) => id}
          rowLink={({ id }) => `transfers/${id}`}
          isLoading={list.isLoading}
          isRefreshing={list.isRefreshing}
          problem={list.problem}
          empty={<NoTransfers isFiltered={Object.keys(filters).length > 0} action={create} />}
          footer={<Pager {...list.paging} />}
        />
      ) : (
        <Hits text={q} kind="transfer" />
      )}
      {isCreating && mayWrite ? <TransferCreate onClose={() => setCreating(false)} /> : null}
    </>
  );
}

function NoTransfers({
  isFiltered,
  action,
}: {
  readonly isFiltered: boolean;
  readonly action: React.ReactNode;
}) {
  if (isFiltered) return <EmptyState title="No transfer fits">Change or clear the filters above.</EmptyState>;
  return (
    <EmptyState icon={<ArrowLeftRight aria-hidden size={20} />} title="No transfers yet" action={action}>
      A transfer pays somebody in another currency: it is quoted at a fixed rate, accepted, funded, converted
      and sent.
    </EmptyState>
  );
}
