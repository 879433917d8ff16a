import { FileClock } from 'lucide-react';
import { useFilters } from '../client/filters.ts';
import { useNow } from '../client/now.ts';
import { useList, useRead } from '../client/queries.ts';
import type { AuditEntry, AuditValues } from '../generated/shapes.ts';
import { Anchor } from '../parts/anchor.tsx';
import { ExportButton } from '../parts/export-button.tsx';
import { FilterBar, FilterDates, FilterSelect, FilterText } from '../parts/filter-bar.tsx';
import { PageHeader } from '../parts/page-header.tsx';
import { StatusBadge } from '../parts/status-badge.tsx';
import { type Column, Table } from '../parts/table.tsx';
import { classes, sentenceCase } from '../parts/text.ts';
import { Time } from '../parts/time.tsx';
import { VerificationCard } from './audit/verification.tsx';
import { ActorName, actorKindLabel, actorLabel } from './log/actor.tsx';
import { NothingFound } from './log/nothing-found.tsx';
import { ShortLink } from './log/short-link.tsx';

const plain = 'hover:text-accent hover:underline';

const columns: readonly Column<AuditEntry>[] = [
  { header: 'Time', cell: ({ at }) => <Time at={at} kind="wall" /> },
  {
    header: 'Action',
    cell: ({ action, code }) => (
      <>
        <Anchor to="audit" search={{ kind: 'all', action }} className={`font-mono text-xs ${plain}`}>
          {action}
        </Anchor>
        {code === null ? null : <span className="block font-mono text-xs text-bad">{code}</span>}
      </>
    ),
  },
  {
    header: 'Actor',
    isWide: true,
    cell: ({ actor }) =>
      actor.id === null ? (
        <ActorName actor={actor} />
      ) : (
        <Anchor to="audit" search={{ kind: 'all', actorId: actor.id }} className={plain}>
          <ActorName actor={actor} />
        </Anchor>
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
    isExtra: true,
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

/** A viewer without permission leaves a row for each read, which would hide the changes: they have a separate tab. */
const tabs = [
  { kind: 'change', label: 'Changes' },
  { kind: 'read', label: 'Refused reads' },
  { kind: 'all', label: 'All' },
] as const;
type Tab = (typeof tabs)[number]['kind'];

/** The audit trail of the organization, across all applications. */
export function Audit() {
  const [{ kind: chosen, ...filters }, setFilters] = useFilters('kind', ...names);
  const tab: Tab = tabs.find(({ kind }) => kind === chosen)?.kind ?? 'change';
  const kind = tab === 'all' ? undefined : tab;
  const query = { ...filters, kind };
  const list = useList<AuditEntry>('org/audit', query);
  const values = useRead<AuditValues>('org/audit/values', { kind }, { keepPreviousData: true }).data;
  const now = useNow('wall');
  const isFiltered = Object.keys(filters).length > 0;
  return (
    <>
      <PageHeader
        title="Audit"
        description={
          <>
            Who did what in all applications of the organization, accepted or refused. A hash chain detects
            later changes. Your own sign-ins, with failed attempts, are in your{' '}
            <Anchor to="/account">security history</Anchor>.
          </>
        }
      />
      <VerificationCard />
      <KindTabs tab={tab} filters={filters} />
      <FilterBar
        onClear={isFiltered ? () => setFilters(noFilters) : undefined}
        actions={<ExportButton path="org/audit" filters={query} name="audit" />}
      >
        <FilterSelect
          label="Actor"
          value={filters.actorId}
          onChange={(actorId) => setFilters({ actorId })}
          options={(values?.actors ?? []).map((actor) => ({
            value: actor.id,
            label: `${actorLabel(actor)} (${actorKindLabel(actor)})`,
          }))}
        />
        <FilterSelect
          label="Action"
          value={filters.action}
          onChange={(action) => setFilters({ action })}
          options={values?.actions ?? []}
        />
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
      <Table
        caption="Audit trail, newest first"
        columns={columns}
        list={list}
        rowKey={({ id }) => id}
        empty={
          <NothingFound
            paging={list.paging}
            icon={<FileClock aria-hidden size={20} />}
            isFiltered={isFiltered}
            title="No entries yet"
          >
            {tab === 'read'
              ? 'A read that a role or an API key does not permit adds a row here.'
              : 'Creating or changing a payment, API key, webhook or invitation adds a row here.'}
          </NothingFound>
        }
      />
    </>
  );
}

interface KindTabsProps {
  readonly tab: Tab;
  readonly filters: Readonly<Partial<Record<string, string>>>;
}

/** Links, so that each tab has an address and Back returns to the previous one. An action belongs to one kind of entries. */
function KindTabs({ tab, filters }: KindTabsProps) {
  return (
    <nav aria-label="Kind of entries" className="mb-3 flex h-9 gap-4 border-b">
      {tabs.map(({ kind, label }) => (
        <Anchor
          key={kind}
          to="audit"
          search={{ ...filters, action: undefined, kind: kind === 'change' ? undefined : kind }}
          isCurrent={kind === tab}
          className={classes(
            '-mb-px flex shrink-0 items-center border-b-2 px-1 text-sm focus-visible:outline-offset-[-2px]',
            kind === tab
              ? 'border-accent font-medium text-ink'
              : 'border-transparent text-muted hover:text-ink',
          )}
        >
          {label}
        </Anchor>
      ))}
    </nav>
  );
}
