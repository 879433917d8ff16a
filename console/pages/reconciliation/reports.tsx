import { FileSpreadsheet } from 'lucide-react';
import type { ExportedRow } from '../../client/csv.ts';
import { useFilters } from '../../client/filters.ts';
import { useList } from '../../client/queries.ts';
import type { Settlement, SettlementLine, SettlementReport } from '../../generated/shapes.ts';
import { Anchor } from '../../parts/anchor.tsx';
import { CopyButton } from '../../parts/copy-button.tsx';
import { EmptyState } from '../../parts/empty-state.tsx';
import { ExportButton } from '../../parts/export-button.tsx';
import { Money } from '../../parts/money.tsx';
import { StatusBadge } from '../../parts/status-badge.tsx';
import { type Column, Table } from '../../parts/table.tsx';
import { pluralize, sentenceCase } from '../../parts/text.ts';
import { Time } from '../../parts/time.tsx';
import { useDownload } from './download.tsx';

/** The list of reports, or one report. */
export function Reports() {
  const [{ day }] = useFilters('day');
  return day === undefined ? <Days /> : <Report key={day} day={day} />;
}

const dayColumns: readonly Column<Settlement>[] = [
  {
    header: 'Day',
    cell: ({ date }) => (
      <Anchor
        to="reconciliation"
        search={{ tab: 'reports', day: date }}
        className="font-medium tabular-nums after:absolute after:inset-0 focus-visible:outline-none focus-visible:after:outline-2 focus-visible:after:-outline-offset-2 focus-visible:after:outline-accent"
      >
        {date}
      </Anchor>
    ),
  },
  { header: 'Status', cell: ({ status }) => <StatusBadge status={status} /> },
  { header: 'Lines', align: 'right', cell: ({ lines }) => lines.toLocaleString('en') },
  {
    header: 'Net',
    align: 'right',
    cell: ({ totals }) => totals.map((one) => <Sum key={one.currency} amount={one.net} {...one} />),
  },
  {
    header: 'Fees',
    align: 'right',
    isMinor: true,
    cell: ({ totals }) => totals.map((one) => <Sum key={one.currency} amount={one.fee} {...one} />),
  },
];

function Sum({ amount, currency }: { readonly amount: number | string; readonly currency: string }) {
  return (
    <div>
      <Money amount={amount} currency={currency} />
    </div>
  );
}

function Days() {
  const list = useList<Settlement>('app/developer_api_settlements');
  return (
    <>
      <div className="mb-3 flex justify-end">
        <ExportButton
          path="app/developer_api_settlements"
          filters={{}}
          name="settlement-reports"
          linesOf={dayLines}
        />
      </div>
      <Table
        caption="Settlement reports"
        columns={dayColumns}
        list={list}
        rowKey={({ id }) => id}
        empty={
          <EmptyState icon={<FileSpreadsheet aria-hidden size={20} />} title="No reports yet">
            Providers report once a day, at 06:00 UTC on the application clock. Capture a payment, then
            advance the clock by two days.
          </EmptyState>
        }
      />
    </>
  );
}

/** One line for each currency of a report. */
function dayLines({ date, status, totals }: Settlement): readonly ExportedRow[] {
  return totals.map((total) => ({ date, status, ...total }));
}

const lineColumns: readonly Column<SettlementLine>[] = [
  { header: 'Provider', cell: ({ provider }) => sentenceCase(provider) },
  {
    header: 'Transaction',
    cell: ({ providerTransactionId: id }) => (
      <span className="inline-flex items-center gap-0.5 font-mono text-xs">
        {id}
        <CopyButton text={id} what="transaction id" />
      </span>
    ),
  },
  {
    header: 'Gross',
    align: 'right',
    cell: ({ gross, currency }) => <Money amount={gross} currency={currency} isBare />,
  },
  {
    header: 'Fee',
    align: 'right',
    cell: ({ fee, currency }) => <Money amount={fee} currency={currency} isBare />,
  },
  { header: 'Net', align: 'right', cell: ({ net, currency }) => <Money amount={net} currency={currency} /> },
  { header: 'Settled', isMinor: true, cell: ({ settledAt }) => <Time at={settledAt} show="full" /> },
];

function Report({ day }: { readonly day: string }) {
  const list = useList<SettlementLine>(`app/developer_api_settlements/${day}`, {}, { name: 'lines' });
  // A page of report lines also contains the report's totals.
  const report = list.data as SettlementReport | undefined;
  const { button, banner } = useDownload(day);
  return (
    <div className="flex flex-col gap-4">
      <div className="flex flex-wrap items-center justify-between gap-3">
        <div>
          <Anchor
            to="reconciliation"
            search={{ tab: 'reports' }}
            className="text-sm text-muted hover:underline"
          >
            All reports
          </Anchor>
          <h2 className="flex items-center gap-2.5 text-lg font-semibold">
            Report of {day}
            {report ? <StatusBadge status={report.status} /> : null}
          </h2>
          {report ? (
            <p className="text-sm text-muted">
              {pluralize(report.lines, 'line')}, as the providers sent them
            </p>
          ) : null}
        </div>
        {button}
      </div>
      {banner}
      <Table
        caption={`Lines of the report of ${day}`}
        columns={lineColumns}
        list={list}
        total={report?.lines.toLocaleString('en')}
        rowKey={({ id }) => id}
        empty={
          <EmptyState title="This report has no lines">No provider paid anything out on this day.</EmptyState>
        }
      />
    </div>
  );
}
