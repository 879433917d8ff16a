import { ScrollText } from 'lucide-react';
import { useFilters } from '../../client/filters.ts';
import { useNow } from '../../client/now.ts';
import { type List, useList, useRead } from '../../client/queries.ts';
import type { ListedApiKey, LoggedRequestSummary } from '../../generated/shapes.ts';
import { Anchor } from '../../parts/anchor.tsx';
import { ExportButton } from '../../parts/export-button.tsx';
import { FilterBar, FilterDates, FilterSelect, FilterText } from '../../parts/filter-bar.tsx';
import { HttpStatus, StatusBadge } from '../../parts/status-badge.tsx';
import { type Column, Table } from '../../parts/table.tsx';
import { Time, TimeOnPhones } from '../../parts/time.tsx';
import { ActorName } from '../log/actor.tsx';
import { NothingFound } from '../log/nothing-found.tsx';
import { formatDuration, shortPath } from './logged-request.ts';

const columns: readonly Column<LoggedRequestSummary>[] = [
  {
    header: 'Request',
    isWide: true,
    cell: ({ method, path, at }) => (
      <>
        <span className="font-mono text-xs" title={path}>
          <span className="font-semibold">{method}</span> <Operation path={shortPath(path)} />
        </span>
        <TimeOnPhones at={at} kind="wall" />
      </>
    ),
  },
  { header: 'Status', cell: ({ httpStatus }) => <HttpStatus status={httpStatus} /> },
  {
    header: 'Error',
    isMinor: true,
    cell: ({ errorCode, isReplay, faultPlanId }) => (
      <span className="flex items-center gap-2">
        {errorCode === null ? null : <span className="font-mono text-xs">{errorCode}</span>}
        {faultPlanId === null ? null : <StatusBadge status="fault" tone="note" label="Injected fault" />}
        {errorCode === null && faultPlanId === null ? (
          <span className="text-faint">{isReplay ? 'Replay' : '—'}</span>
        ) : null}
      </span>
    ),
  },
  { header: 'Actor', isExtra: true, cell: ({ actor }) => <ActorName actor={actor} /> },
  {
    header: 'Duration',
    align: 'right',
    isMinor: true,
    cell: ({ durationMs }) => formatDuration(durationMs),
  },
  { header: 'Time', isMinor: true, cell: ({ at }) => <Time at={at} kind="wall" /> },
];

const prefix = 'developer_api_';

/** An operation; the common prefix is hidden where it would take the room of the rest. */
function Operation({ path }: { readonly path: string }) {
  if (!path.startsWith(prefix)) return path;
  return (
    <>
      <span className="max-xl:hidden">{prefix}</span>
      {path.slice(prefix.length)}
    </>
  );
}

const names = [
  'status',
  'method',
  'errorCode',
  'apiKeyId',
  'path',
  'resourceId',
  'faultPlanId',
  'after',
  'before',
] as const;
const noFilters = Object.fromEntries(names.map((name) => [name, '']));

// Requests that change nothing are not announced by the stream.
const pollMs = 2_000;

/** The request log, newest first. */
export function AllRequests() {
  const [filters, setFilters] = useFilters(...names);
  const list = useList<LoggedRequestSummary>('app/developer_api_requests', filters, { everyMs: pollMs });
  const now = useNow('wall');
  const isFiltered = Object.keys(filters).length > 0;
  return (
    <>
      <FilterBar
        onClear={isFiltered ? () => setFilters(noFilters) : undefined}
        actions={<ExportButton path="app/developer_api_requests" filters={filters} name="requests" />}
      >
        <FilterSelect
          label="Status"
          value={filters.status}
          onChange={(status) => setFilters({ status })}
          options={statuses(filters.status)}
        />
        <FilterSelect
          label="Method"
          value={filters.method}
          onChange={(method) => setFilters({ method })}
          options={['GET', 'POST']}
        />
        <FilterText
          label="Error code"
          value={filters.errorCode}
          placeholder="invalid_request"
          onChange={(errorCode) => setFilters({ errorCode })}
        />
        <KeyFilter value={filters.apiKeyId} onChange={(apiKeyId) => setFilters({ apiKeyId })} />
        <FilterText
          label="Path prefix"
          value={filters.path}
          placeholder="developer_api_payments"
          onChange={(path) => setFilters({ path })}
        />
        <FilterText
          label="Record"
          value={filters.resourceId}
          placeholder="pay_…"
          onChange={(resourceId) => setFilters({ resourceId })}
        />
        {filters.faultPlanId === undefined ? null : (
          <FilterText
            label="Fault plan"
            value={filters.faultPlanId}
            onChange={(faultPlanId) => setFilters({ faultPlanId })}
          />
        )}
        <FilterDates
          label="Time"
          from={filters.after}
          to={filters.before}
          now={now}
          onChange={({ from, to }) => setFilters({ after: from, before: to })}
        />
      </FilterBar>
      <Table
        caption="Requests, newest first"
        columns={columns}
        list={list}
        rowKey={({ id }) => id}
        rowLink={({ id }) => `requests/${id}`}
        empty={
          <NothingFound
            paging={list.paging}
            icon={<ScrollText aria-hidden size={20} />}
            isFiltered={isFiltered}
            title="No requests yet"
          >
            API requests appear here within seconds, with their request and response bodies.{' '}
            <Anchor to="start">Make the first request</Anchor>.
          </NothingFound>
        }
      />
    </>
  );
}

const statusClasses = [
  { value: '2xx', label: '2xx, success' },
  { value: '4xx', label: '4xx, client error' },
  { value: '5xx', label: '5xx, server error' },
];

/** The status options. A link may filter by a single status code, which is then an option too. */
function statuses(chosen: string | undefined) {
  const isKnown = chosen === undefined || statusClasses.some(({ value }) => value === chosen);
  return isKnown ? statusClasses : [...statusClasses, { value: chosen, label: chosen }];
}

function KeyFilter({
  value,
  onChange,
}: {
  readonly value: string | undefined;
  readonly onChange: (id: string) => void;
}) {
  const { data } = useRead<List<ListedApiKey>>('app/api_keys');
  const known = (data?.data ?? []).map(({ id, name, lastFour }) => ({
    value: id,
    label: `${name} (…${lastFour})`,
  }));
  const isKnown = value === undefined || known.some((key) => key.value === value);
  return (
    <FilterSelect
      label="API key"
      value={value}
      onChange={onChange}
      options={isKnown ? known : [...known, { value, label: value }]}
    />
  );
}
