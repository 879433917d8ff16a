import { Plus } from 'lucide-react';
import type { ReactNode } from 'react';
import type { BulkAction } from '../../client/bulk.ts';
import { useCapabilities } from '../../client/capabilities.ts';
import { useFilters, useOpenParam } from '../../client/filters.ts';
import { useList } from '../../client/queries.ts';
import { useSelection } from '../../client/selection.ts';
import { useAllowed } from '../../frame/session.tsx';
import { BulkBar } from '../../parts/bulk-bar.tsx';
import { Button } from '../../parts/button.tsx';
import { EmptyState } from '../../parts/empty-state.tsx';
import { ExportButton } from '../../parts/export-button.tsx';
import { FilterText } from '../../parts/filter-bar.tsx';
import { PageHeader } from '../../parts/page-header.tsx';
import { type Column, Table } from '../../parts/table.tsx';
import { sentenceCase } from '../../parts/text.ts';
import { CustomerNamesProvider } from './customer-names.tsx';
import { RecordFilters } from './filters.tsx';
import { Hits } from './hits.tsx';
import { StatusTabs, useTotal } from './status-tabs.tsx';

export interface RecordListProps<Row> {
  readonly kind: 'payment' | 'refund' | 'dispute' | 'customer' | 'transfer';
  readonly columns: readonly Column<Row>[];
  /** Placeholder of the search box: the searchable fields. */
  readonly placeholder: string;
  /** Text filters that are specific to this list. */
  readonly texts: readonly { readonly name: string; readonly label: string; readonly placeholder: string }[];
  /** The empty state; `action` replaces the create button. */
  readonly none: { readonly icon: ReactNode; readonly description: ReactNode; readonly action?: ReactNode };
  /** Actions on selected rows, which need the developer role. */
  readonly bulk?: { readonly actions: readonly BulkAction<Row>[]; readonly nameOf: (row: Row) => string };
  /** Renders the create dialog. */
  readonly create?: (onClose: () => void) => ReactNode;
}

/** A list page with search, filters and paging, all on the server. */
export function RecordList<Row extends { readonly id: string; readonly customerId?: string | null }>(
  props: RecordListProps<Row>,
) {
  const { kind, columns, placeholder, texts, none } = props;
  const plural = `${kind}s`;
  const isDeveloper = useAllowed('developer');
  const mayCreate = isDeveloper && props.create !== undefined;
  const [isCreating, setCreating] = useOpenParam('create');
  const names = ['q', 'status', ...texts.map(({ name }) => name), 'createdAfter', 'createdBefore'];
  const [{ q, ...filters }, setFilters] = useFilters(...names);
  const list = useList<Row>(`app/developer_api_${plural}`, filters, { isEnabled: q === undefined });
  const total = useTotal(kind, filters);
  const selection = useSelection(list.query, list.rows, props.bulk?.nameOf ?? (({ id }) => id));
  const states = useCapabilities()?.resources.find(({ name }) => name === kind)?.states ?? [];
  const create = mayCreate ? (
    <Button variant="primary" icon={<Plus aria-hidden size={16} />} onClick={() => setCreating(true)}>
      Create {kind}
    </Button>
  ) : undefined;
  // Without any record there is nothing to filter, and the empty state has the button.
  const isEmpty =
    q === undefined && Object.keys(filters).length === 0 && list.data !== undefined && list.rows.length === 0;
  const empty =
    Object.keys(filters).length > 0 ? (
      <EmptyState title={`No matching ${plural}`}>Change or clear the filters.</EmptyState>
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
            onChange={(status) => setFilters({ status, q: '' })}
          />
          <RecordFilters
            values={{ q, ...filters }}
            onChange={setFilters}
            statuses={states}
            placeholder={placeholder}
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
      {q === undefined ? (
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
          {isDeveloper && props.bulk ? (
            <BulkBar selection={selection} noun={kind} actions={props.bulk.actions} />
          ) : null}
        </CustomerNamesProvider>
      ) : (
        <Hits text={q} kind={kind} />
      )}
      {isCreating && mayCreate ? props.create?.(() => setCreating(false)) : null}
    </>
  );
}
