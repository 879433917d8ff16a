import { BookOpen } from 'lucide-react';
import { useCapabilities } from '../client/capabilities.ts';
import { useFilters } from '../client/filters.ts';
import { useNow } from '../client/now.ts';
import { useList, useRead } from '../client/queries.ts';
import type { Balances, LedgerEntry } from '../generated/shapes.ts';
import { EmptyState } from '../parts/empty-state.tsx';
import { ExportButton, ExportRows } from '../parts/export-button.tsx';
import { Switch } from '../parts/field.tsx';
import { FilterBar, FilterDates, FilterSelect, FilterText } from '../parts/filter-bar.tsx';
import { PageHeader } from '../parts/page-header.tsx';
import { ProblemBanner } from '../parts/problem.tsx';
import { Skeleton } from '../parts/skeleton.tsx';
import { Tabs } from '../parts/tabs.tsx';
import { sentenceCase } from '../parts/text.ts';
import { BalanceCards } from './ledger/balances.tsx';
import { Entries } from './ledger/entries.tsx';
import { postingLines } from './ledger/posting-lines.ts';
import { TrialBalance } from './ledger/trial.tsx';

const names = ['tab', 'zeros', 'paymentId', 'transferId', 'reason', 'createdAfter', 'createdBefore'] as const;

export function Ledger() {
  const now = useNow('application');
  const [filters, setFilters] = useFilters(...names);
  const { paymentId, transferId, reason, createdAfter, createdBefore } = filters;
  const tab = filters.tab ?? 'balances';
  const recordId = paymentId ?? transferId;
  const setRecord = (id: string) =>
    setFilters(id.startsWith('trf_') ? { paymentId: '', transferId: id } : { paymentId: id, transferId: '' });
  return (
    <>
      <PageHeader
        title="Ledger"
        description="All money movements in double-entry bookkeeping. Entries never change: corrections are posted as reversing entries."
      />
      <Trial />
      <Tabs
        label="Ledger"
        value={tab}
        onChange={(next) => setFilters({ tab: next === 'balances' ? '' : next })}
        tabs={[
          {
            value: 'balances',
            label: 'Balances',
            content: (
              <>
                <FilterBar
                  onClear={recordId === undefined ? undefined : () => setRecord('')}
                  actions={
                    <>
                      <div className="py-1.5">
                        <Switch
                          label="Show zero balances"
                          isOn={filters.zeros === '1'}
                          onChange={(isOn) => setFilters({ zeros: isOn ? '1' : '' })}
                        />
                      </div>
                      <BalanceExport query={{ paymentId, transferId }} />
                    </>
                  }
                >
                  <RecordFilter value={recordId} onChange={setRecord} />
                </FilterBar>
                <BalanceList query={{ paymentId, transferId }} hasZeros={filters.zeros === '1'} />
              </>
            ),
          },
          {
            value: 'entries',
            label: 'Entries',
            content: (
              <>
                <FilterBar
                  onClear={
                    recordId || reason || createdAfter || createdBefore
                      ? () =>
                          setFilters({
                            paymentId: '',
                            transferId: '',
                            reason: '',
                            createdAfter: '',
                            createdBefore: '',
                          })
                      : undefined
                  }
                  actions={
                    <ExportButton
                      path="app/developer_api_ledger_entries"
                      filters={{ paymentId, transferId, reason, createdAfter, createdBefore }}
                      name="ledger-entries"
                      linesOf={postingLines}
                    />
                  }
                >
                  <RecordFilter value={recordId} onChange={setRecord} />
                  <FilterSelect
                    label="Reason"
                    value={reason}
                    onChange={(value) => setFilters({ reason: value })}
                    options={(useCapabilities()?.ledgerReasons ?? []).map((value) => ({
                      value,
                      label: sentenceCase(value),
                    }))}
                  />
                  <FilterDates
                    label="Posted"
                    from={createdAfter}
                    to={createdBefore}
                    now={now}
                    onChange={({ from, to }) => setFilters({ createdAfter: from, createdBefore: to })}
                  />
                </FilterBar>
                <EntryList query={{ paymentId, transferId, reason, createdAfter, createdBefore }} />
              </>
            ),
          },
        ]}
      />
    </>
  );
}

/** Always over the whole ledger, regardless of the filters below. */
function Trial() {
  const { data, isLoading } = useRead<Balances>('app/developer_api_balances');
  if (data !== undefined) return <TrialBalance balances={data} />;
  return isLoading ? <Skeleton className="mb-5 h-25 w-full sm:h-19.5" /> : null;
}

function RecordFilter({
  value,
  onChange,
}: {
  readonly value: string | undefined;
  readonly onChange: (id: string) => void;
}) {
  return (
    <FilterText label="Payment or transfer" value={value} placeholder="pay_… or trf_…" onChange={onChange} />
  );
}

type Filter = Readonly<Record<string, string | undefined>>;

function BalanceList({ query, hasZeros }: { readonly query: Filter; readonly hasZeros: boolean }) {
  const { data, problem, isLoading, refresh } = useRead<Balances>('app/developer_api_balances', query);
  if (problem && data === undefined) return <ProblemBanner problem={problem} onRetry={refresh} />;
  if (isLoading || data === undefined) {
    return (
      <div role="status" className="grid gap-5 xl:grid-cols-2">
        <span className="sr-only">Loading the balances</span>
        <Skeleton className="h-64 w-full" />
        <Skeleton className="h-64 w-full" />
      </div>
    );
  }
  return (
    <BalanceCards
      balances={data}
      hasZeros={hasZeros}
      isRecordScope={query.paymentId !== undefined || query.transferId !== undefined}
    />
  );
}

/** All accounts, also those with a zero balance. */
function BalanceExport({ query }: { readonly query: Filter }) {
  const { data } = useRead<Balances>('app/developer_api_balances', query);
  return <ExportRows rows={data?.accounts ?? []} name="balances" />;
}

function EntryList({ query }: { readonly query: Filter }) {
  const list = useList<LedgerEntry>('app/developer_api_ledger_entries', query);
  const isFiltered = Object.values(query).some((value) => value !== undefined);
  return (
    <Entries
      list={list}
      empty={
        <EmptyState
          icon={<BookOpen aria-hidden size={20} />}
          title={isFiltered ? 'No entries match these filters' : 'No entries yet'}
        >
          {isFiltered
            ? 'Remove a filter to see more.'
            : 'An entry is posted whenever money moves: when a payment is authorized, captured, settled or refunded, and with each step of a transfer.'}
        </EmptyState>
      }
    />
  );
}
