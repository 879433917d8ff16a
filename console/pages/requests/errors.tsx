import { CircleCheck } from 'lucide-react';
import { useLimits } from '../../client/capabilities.ts';
import { useFilters } from '../../client/filters.ts';
import { useRead } from '../../client/queries.ts';
import type { RequestErrors } from '../../generated/shapes.ts';
import { Anchor } from '../../parts/anchor.tsx';
import { EmptyState } from '../../parts/empty-state.tsx';
import { ExportRows } from '../../parts/export-button.tsx';
import { FilterBar, FilterSelect } from '../../parts/filter-bar.tsx';
import { HttpStatus } from '../../parts/status-badge.tsx';
import { type Column, Table } from '../../parts/table.tsx';
import { durationText } from '../../parts/text.ts';
import { Time } from '../../parts/time.tsx';
import { DocsLink, errorDocs } from '../docs-link.tsx';

type Group = RequestErrors['groups'][number];

const hoursDefault = '24';

/** The offered periods: the default one, and those that the server accepts. */
function spansUpTo(hoursMax = 0) {
  return [...new Set([1, 24, 168, hoursMax])]
    .filter((hours) => hours > 0 && (hours <= hoursMax || String(hours) === hoursDefault))
    .map((hours) => ({
      value: String(hours),
      label: `The last ${hours === 1 ? 'hour' : durationText(hours * 3_600)}`,
    }));
}

const columns: readonly Column<Group>[] = [
  {
    header: 'Error',
    cell: ({ code }) => (
      <Anchor
        to="requests"
        search={{ errorCode: code }}
        className="font-mono text-xs text-accent hover:underline"
      >
        {code}
      </Anchor>
    ),
  },
  { header: 'Status', cell: ({ httpStatus }) => <HttpStatus status={httpStatus} /> },
  {
    header: 'Operation',
    isMinor: true,
    cell: ({ route }) =>
      route ? <span className="font-mono text-xs">{route}</span> : <span className="text-faint">—</span>,
  },
  { header: 'Count', align: 'right', cell: ({ count }) => count.toLocaleString('en') },
  {
    header: 'Last',
    cell: ({ lastAt, lastRequestId }) => (
      <Anchor to={`requests/${lastRequestId}`}>
        <Time at={lastAt} kind="wall" show="relative" />
      </Anchor>
    ),
  },
  {
    header: 'Documentation',
    isMinor: true,
    cell: ({ code }) => (
      <DocsLink to={errorDocs(code)}>
        How to fix it<span className="sr-only"> {code}</span>
      </DocsLink>
    ),
  },
];

/** Recent errors grouped by code, most frequent first. */
export function Errors() {
  const [filters, setFilters] = useFilters('hours');
  const spans = spansUpTo(useLimits().requestErrorHoursMax);
  const hours = spans.some(({ value }) => value === filters.hours) ? filters.hours : hoursDefault;
  const { data, problem, isLoading, isRefreshing } = useRead<RequestErrors>(
    'app/request_errors',
    { hours },
    { keepPreviousData: true },
  );
  return (
    <>
      <FilterBar actions={<ExportRows rows={data?.groups ?? []} name="request-errors" />}>
        <FilterSpan spans={spans} value={hours} onChange={(next) => setFilters({ hours: next })} />
      </FilterBar>
      <Table
        caption="Errors by code"
        columns={columns}
        rows={data?.groups ?? []}
        rowKey={({ code, httpStatus, route }) => `${code} ${httpStatus} ${route}`}
        isLoading={isLoading}
        isRefreshing={isRefreshing}
        problem={problem}
        empty={
          <EmptyState icon={<CircleCheck aria-hidden size={20} />} title="No errors in this period">
            Failed requests are grouped here by error code, with a link to the resolution.
          </EmptyState>
        }
      />
    </>
  );
}

function FilterSpan({
  spans,
  value,
  onChange,
}: {
  readonly spans: ReturnType<typeof spansUpTo>;
  readonly value: string | undefined;
  readonly onChange: (hours: string) => void;
}) {
  return (
    <FilterSelect
      label="Period"
      value={value ?? hoursDefault}
      onChange={(next) => onChange(next === hoursDefault ? '' : next)}
      options={spans}
    />
  );
}
