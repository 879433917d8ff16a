import { Plus } from 'lucide-react';
import type { ReactNode } from 'react';
import { useCapabilities } from '../../client/capabilities.ts';
import { useFilters, useOpenParam } from '../../client/filters.ts';
import { useList } from '../../client/queries.ts';
import { clearedFilters } from '../../client/search-params.ts';
import { type Selection, useSelection } from '../../client/selection.ts';
import { useAllowed } from '../../frame/session.tsx';
import { Button } from '../../parts/button.tsx';
import { EmptyState } from '../../parts/empty-state.tsx';
import { ExportButton } from '../../parts/export-button.tsx';
import { FilterText } from '../../parts/filter-bar.tsx';
import { PageHeader } from '../../parts/page-header.tsx';
import { type Column, Table } from '../../parts/table.tsx';
import { sentenceCase } from '../../parts/text.ts';
import { CustomerNamesProvider } from './customer-names.tsx';
import { RecordFilters } from './filters.tsx';
import { NoMatch } from './no-match.tsx';
import { StatusTabs, useTotal } from './status-tabs.tsx';

export interface RecordListProps<Row> {
  readonly kind: 'payment' | 'refund' | 'dispute' | 'customer' | 'transfer';
  readonly columns: readonly Column<Row>[];
  /** Placeholder of the search box: the searchable fields. */
  readonly placeholder: string;
  /** Text filters that are specific to this list. */
  readonly texts: readonly { readonly name: string; readonly label: string; readonly placeholder: string }[];
  /** Whether records have a customer, and an amount in one currency, to filter by. */
  readonly hasCustomer?: boolean;
  readonly hasAmount?: boolean;
  /** The empty state; `action` replaces the create button. */
  readonly none: { readonly icon: ReactNode; readonly description: ReactNode; readonly action?: ReactNode };
  /** Actions on selected rows, which need the developer role. */
  readonly bulk?: {
    readonly nameOf: (row: Row) => string;
    readonly bar: (rows: { readonly selection: Selection<Row>; readonly shown: readonly Row[] }) => ReactNode;
  };
  /** Renders the create dialog. */
  readonly create?: (onClose: () => void) => ReactNode;
}

/** A list page with search, filters and paging, all on the server. */
export function RecordList<Row extends { readonly id: string; readonly customerId?: string | null }>(
  props: RecordListProps<Row>,
) {
  const { kind, columns, placeholder, texts, none, hasCustomer = false, hasAmount = false } = props;
  const plural = `${kind}s`;
  const isDeveloper = useAllowed('developer');
  const mayCreate = isDeveloper && props.create !== undefined;
  const [isCreating, setCreating] = useOpenParam('create');
  const names = ['q', 'status', ...texts.map(({ name }) => name), 'createdAfter', 'createdBefore'];
  if (hasCustomer) names.push('customerId');
  if (hasAmount) names.push('currency', 'amountMin', 'amountMax');
  const [filters, setFilters] = useFilters(...names);
  const isFiltered = Object.keys(filters).length > 0;
  const list = useList<Row>(`app/developer_api_${plural}`, filters);
  const total = useTotal(kind, filters);
  const selection = useSelection(list.query, list.rows, props.bulk?.nameOf ?? (({ id }) => id));
  const states = useCapabilities()?.resources.find(({ name }) => name === kind)?.states ?? [];
  const create = mayCreate ? (
    <Button variant="primary" icon={<Plus aria-hidden size={16} />} onClick={() => setCreating(true)}>
      Create {kind}
    </Button>
  ) : undefined;
  // Without any record there is nothing to filter, and the empty state has the button.
  const isEmpty = !isFiltered && list.data !== undefined && list.rows.length === 0;
  const empty = isFiltered ? (
    <NoMatch plural={plural} paging={list.paging} onClear={() => setFilters(clearedFilters(filters))} />
  ) : (
    <EmptyState icon={none.icon} title={`No ${plural} yet`} action={none.action ?? create}>
      {none.description}
    </EmptyState>
  );
  return (
    <>
      <PageHeader title={sentenceCase(plural)} actions={isEmpty ? undefined : create} />
      {isEmpty ? null : (
        <>
          <StatusTabs
            kind={kind}
            status={filters.status}
            hasCounts={Object.keys(filters).every((name) => name === 'status')}
            onChange={(status) => setFilters({ status })}
          />
          <RecordFilters
            values={filters}
            onChange={setFilters}
            statuses={states}
            placeholder={placeholder}
            hasCustomer={hasCustomer}
            hasAmount={hasAmount}
            actions={<ExportButton path={`app/developer_api_${plural}`} filters={filters} name={plural} />}
          >
            {texts.map(({ name, ...field }) => (
              <FilterText
                key={name}
                {...field}
                value={filters[name]}
                onChange={(text) => setFilters({ [name]: text })}
              />
            ))}
          </RecordFilters>
        </>
      )}
      <CustomerNamesProvider rows={list.rows}>
        <Table
          caption={sentenceCase(plural)}
          columns={columns}
          list={list}
          total={total}
          rowKey={({ id }) => id}
          rowLink={({ id }) => `${plural}/${id}`}
          empty={empty}
          selection={isDeveloper && props.bulk ? selection : undefined}
        />
        {isDeveloper ? props.bulk?.bar({ selection, shown: list.rows }) : null}
      </CustomerNamesProvider>
      {isCreating && mayCreate ? props.create?.(() => setCreating(false)) : null}
    </>
  );
}
