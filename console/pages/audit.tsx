import { FileClock } from 'lucide-react';
import { useFilters } from '../client/filters.ts';
import { useNow } from '../client/now.ts';
import { useList } from '../client/queries.ts';
import type { AuditEntry } from '../generated/shapes.ts';
import { Anchor } from '../parts/anchor.tsx';
import { ExportButton } from '../parts/export-button.tsx';
import { FilterBar, FilterDates, FilterSelect, FilterText } from '../parts/filter-bar.tsx';
import { PageHeader } from '../parts/page-header.tsx';
import { NewRows, Pager } from '../parts/pager.tsx';
import { StatusBadge } from '../parts/status-badge.tsx';
import { type Column, Table } from '../parts/table.tsx';
import { sentenceCase } from '../parts/text.ts';
import { Time } from '../parts/time.tsx';
import { VerificationCard } from './audit/verification.tsx';
import { ActorName } from './log/actor.tsx';
import { NothingFound } from './log/nothing-found.tsx';
import { ShortLink } from './log/short-link.tsx';

const plain = 'hover:text-accent hover:underline';

const columns: readonly Column<AuditEntry>[] = [
  { header: 'Time', cell: ({ at }) => <Time at={at} kind="wall" /> },
  {
    header: 'Actor',
    cell: ({ actor }) =>
      actor.id === null ? (
        <ActorName actor={actor} />
      ) : (
        <Anchor to="audit" search={{ actorId: actor.id }} className={plain}>
          <ActorName actor={actor} />
        </Anchor>
      ),
  },
  {
    header: 'Action',
    cell: ({ action, code }) => (
      <>
        <Anchor to="audit" search={{ action }} className={`font-mono text-xs ${plain}`}>
          {action}
        </Anchor>
        {code === null ? null : <span className="block font-mono text-xs text-bad">{code}</span>}
      </>
    ),
  },
  {
    header: 'Outcome',
    cell: ({ outcome }) => <StatusBadge status={outcome} tone={outcome === 'accepted' ? 'good' : 'bad'} />,
  },
  {
    header: 'Resource',
    cell: ({ resource, resourceId }) =>
      resourceId === null ? (
        <span className="text-muted">{resource === null ? '—' : sentenceCase(resource)}</span>
      ) : (
        <ShortLink id={resourceId} />
      ),
  },
  {
    header: 'IP address',
    isMinor: true,
    cell: ({ ip }) =>
      ip === null ? <span className="text-faint">—</span> : <span className="font-mono text-xs">{ip}</span>,
  },
  {
    header: 'Request',
    isMinor: true,
    cell: ({ requestId }) => <ShortLink id={requestId} />,
  },
];

const names = ['actorId', 'action', 'outcome', 'resourceId', 'after', 'before'] as const;
const noFilters = Object.fromEntries(names.map((name) => [name, '']));

/** The audit trail of the organization, across all applications. */
export function Audit() {
  const [filters, setFilters] = useFilters(...names);
  const list = useList<AuditEntry>('org/audit', filters);
  const now = useNow('wall');
  const isFiltered = Object.keys(filters).length > 0;
  return (
    <>
      <PageHeader
        title="Audit"
        description="Every accepted or rejected write in all applications of the organization. A hash chain seals the rows, so that later changes are detected."
      />
      <VerificationCard />
      <FilterBar
        onClear={isFiltered ? () => setFilters(noFilters) : undefined}
        actions={<ExportButton path="org/audit" filters={filters} name="audit" />}
      >
        <FilterText
          label="Actor id"
          value={filters.actorId}
          placeholder="key_… or usr_…"
          onChange={(actorId) => setFilters({ actorId })}
        />
        <FilterText label="Action" value={filters.action} onChange={(action) => setFilters({ action })} />
        <FilterSelect
          label="Outcome"
          value={filters.outcome}
          onChange={(outcome) => setFilters({ outcome })}
          options={[
            { value: 'accepted', label: 'Accepted' },
            { value: 'refused', label: 'Refused' },
          ]}
        />
        <FilterText
          label="Resource id"
          value={filters.resourceId}
          placeholder="pay_…"
          onChange={(resourceId) => setFilters({ resourceId })}
        />
        <FilterDates
          label="Time"
          from={filters.after}
          to={filters.before}
          now={now}
          onChange={({ from, to }) => setFilters({ after: from, before: to })}
        />
      </FilterBar>
      <NewRows {...list} />
      <Table
        caption="Audit trail, newest first"
        columns={columns}
        rows={list.rows}
        rowKey={({ id }) => id}
        isLoading={list.isLoading}
        isRefreshing={list.isRefreshing}
        problem={list.problem}
        empty={
          <NothingFound
            paging={list.paging}
            icon={<FileClock aria-hidden size={20} />}
            isFiltered={isFiltered}
            title="No entries yet"
          >
            Creating or changing a payment, API key, webhook or invitation adds a row here.
          </NothingFound>
        }
        footer={<Pager {...list.paging} />}
      />
    </>
  );
}
