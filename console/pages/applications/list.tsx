import { Boxes, Plus } from 'lucide-react';
import { editableAmount } from '../../client/amount.ts';
import { useFilters, useOpenParam } from '../../client/filters.ts';
import { useList } from '../../client/queries.ts';
import { useScope } from '../../client/scope.ts';
import { useAllowed } from '../../frame/session.tsx';
import type { Application } from '../../generated/shapes.ts';
import { Button } from '../../parts/button.tsx';
import { IdText } from '../../parts/copy-button.tsx';
import { EmptyState } from '../../parts/empty-state.tsx';
import { ExportButton } from '../../parts/export-button.tsx';
import { FilterBar, FilterSelect } from '../../parts/filter-bar.tsx';
import { optionsOf } from '../../parts/options.ts';
import { PageHeader } from '../../parts/page-header.tsx';
import { StatusBadge } from '../../parts/status-badge.tsx';
import { type Column, Table } from '../../parts/table.tsx';
import { pluralize, sentenceCase } from '../../parts/text.ts';
import { Time } from '../../parts/time.tsx';
import { CreateApplication } from './create.tsx';
import { percentText } from './percent.ts';

export function ApplicationList() {
  const [filters, setFilters] = useFilters('status');
  const [isCreating, setCreating] = useOpenParam('create');
  const list = useList<Application>('org/applications', filters);
  const { appId } = useScope();
  const mayWrite = useAllowed('developer');
  const isEmpty = filters.status === undefined && list.data !== undefined && list.rows.length === 0;
  const create = mayWrite ? (
    <Button variant="primary" icon={<Plus aria-hidden size={16} />} onClick={() => setCreating(true)}>
      Create application
    </Button>
  ) : undefined;
  return (
    <>
      <PageHeader
        title="Applications"
        description={
          mayWrite
            ? 'Each application has its own API keys, webhooks, settings and clock.'
            : 'Each application has its own API keys, webhooks, settings and clock. Creating one requires the developer role.'
        }
        actions={isEmpty ? undefined : create}
      />
      {isEmpty ? null : (
        <FilterBar
          onClear={filters.status ? () => setFilters({ status: undefined }) : undefined}
          actions={<ExportButton path="org/applications" filters={filters} name="applications" />}
        >
          <FilterSelect
            label="Status"
            value={filters.status}
            options={optionsOf<Application['status']>({ active: 'Active', archived: 'Archived' })}
            onChange={(status) => setFilters({ status })}
          />
        </FilterBar>
      )}
      <Table
        caption="Applications of the organization"
        columns={columnsFor(appId)}
        list={list}
        rowKey={({ id }) => id}
        rowLink={({ id }) => `applications/${id}`}
        empty={
          <EmptyState
            icon={<Boxes aria-hidden size={20} />}
            title={filters.status ? 'No applications with this status' : 'No applications yet'}
            action={filters.status ? undefined : create}
          >
            {filters.status
              ? 'Select another status, or clear the filter.'
              : 'Create one for each system that you build. Applications share the records of the organization.'}
          </EmptyState>
        }
      />
      {isCreating && mayWrite ? <CreateApplication onClose={() => setCreating(false)} /> : null}
    </>
  );
}

function columnsFor(appId: string | null): readonly Column<Application>[] {
  return [
    {
      header: 'Name',
      isWide: true,
      cell: ({ id, name }) => (
        <>
          {name}
          {id === appId ? <span className="ml-2 text-xs font-normal text-muted">current</span> : null}
        </>
      ),
    },
    { header: 'Status', cell: ({ status }) => <StatusBadge status={status} /> },
    {
      header: 'Fee',
      isMinor: true,
      cell: ({ fee }) => (
        <span
          title={`Of each capture. The fixed fee is ${pluralize(fee.fixedAmount, 'minor unit')}, here as of EUR.`}
        >
          {percentText(fee.basisPoints)}% + {editableAmount(fee.fixedAmount, 'EUR')}
        </span>
      ),
    },
    {
      header: 'Provider',
      isMinor: true,
      cell: ({ provider }) => (provider === null ? 'By method' : sentenceCase(provider)),
    },
    { header: 'Id', isMinor: true, cell: ({ id }) => <IdText id={id} isShort what="application id" /> },
    { header: 'Created', isMinor: true, cell: ({ createdAt }) => <Time at={createdAt} kind="wall" /> },
  ];
}
