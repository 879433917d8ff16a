import { Bug, Plus } from 'lucide-react';
import { useState } from 'react';
import type { BulkAction } from '../../client/bulk.ts';
import { useFilters, useOpenParam } from '../../client/filters.ts';
import { useList, useWrite } from '../../client/queries.ts';
import { readRequest } from '../../client/request.ts';
import { useSelection } from '../../client/selection.ts';
import { CodeButton } from '../../code/code-button.tsx';
import type { NamedRequest } from '../../code/requests-dialog.tsx';
import { useAllowed } from '../../frame/session.tsx';
import type { FaultPlan, FaultPlanStatus } from '../../generated/shapes.ts';
import { Anchor } from '../../parts/anchor.tsx';
import { BulkBar } from '../../parts/bulk-bar.tsx';
import { Button } from '../../parts/button.tsx';
import { ConfirmDialog } from '../../parts/dialog.tsx';
import { EmptyState } from '../../parts/empty-state.tsx';
import { ExportButton } from '../../parts/export-button.tsx';
import { FilterBar, FilterSelect } from '../../parts/filter-bar.tsx';
import { optionsOf } from '../../parts/options.ts';
import { PageHeader } from '../../parts/page-header.tsx';
import { StatusBadge } from '../../parts/status-badge.tsx';
import { type Column, Table } from '../../parts/table.tsx';
import { Time } from '../../parts/time.tsx';
import { useToast } from '../../parts/toast.tsx';
import { CreatePlan } from './create.tsx';
import { describeFault, describeReach } from './labels.ts';

// The counters change while requests arrive.
const refreshMs = 3_000;

export function FaultPlanList() {
  const isAllowed = useAllowed('developer');
  const [filters, setFilters] = useFilters('status');
  const [isCreating, setCreating] = useOpenParam('create');
  const [ending, setEnding] = useState<FaultPlan | null>(null);
  const list = useList<FaultPlan>('app/developer_api_fault_plans', filters, { everyMs: refreshMs });
  const selection = useSelection(list.query, list.rows, ({ fault }) => describeFault(fault));
  const isEmpty = filters.status === undefined && list.data !== undefined && list.rows.length === 0;
  const button = isAllowed ? (
    <Button variant="primary" icon={<Plus aria-hidden size={16} />} onClick={() => setCreating(true)}>
      Create fault plan
    </Button>
  ) : undefined;
  return (
    <>
      <PageHeader
        title="Faults"
        description="Failures on demand for this application: slow, rejected or lost requests, and duplicate, late or missing webhooks."
        actions={
          <>
            <CodeButton title="Faults" requests={faultRequests(filters.status, list.rows[0]?.id)} />
            {isEmpty ? null : button}
          </>
        }
      />
      {isEmpty ? null : (
        <FilterBar
          onClear={filters.status === undefined ? undefined : () => setFilters({ status: undefined })}
          actions={<ExportButton path="app/developer_api_fault_plans" filters={filters} name="fault-plans" />}
        >
          <FilterSelect
            label="Status"
            value={filters.status}
            options={optionsOf<FaultPlanStatus>({
              active: 'Active',
              exhausted: 'Exhausted',
              canceled: 'Canceled',
            })}
            onChange={(status) => setFilters({ status })}
          />
        </FilterBar>
      )}
      <Table
        caption="Fault plans"
        columns={columnsFor(isAllowed ? setEnding : undefined)}
        list={list}
        rowKey={({ id }) => id}
        empty={
          filters.status === undefined ? (
            <EmptyState icon={<Bug aria-hidden size={20} />} title="No fault plans yet" action={button}>
              Lose the response to a payment request, and check whether your retry creates a second payment.
            </EmptyState>
          ) : (
            <EmptyState title="No fault plans with this status">
              Clear the filter to see all of them.
            </EmptyState>
          )
        }
        selection={isAllowed ? selection : undefined}
      />
      {isAllowed ? (
        <BulkBar selection={selection} noun="fault plan" plural="fault plans" actions={bulkActions} />
      ) : null}
      {isCreating && isAllowed ? <CreatePlan onClose={() => setCreating(false)} /> : null}
      {ending === null ? null : <EndPlan plan={ending} onClose={() => setEnding(null)} />}
    </>
  );
}

/** The list, and the newest plan as an example. */
function faultRequests(status: string | undefined, id: string | undefined): readonly NamedRequest[] {
  const path = 'developer_api_fault_plans';
  return [
    { label: 'List fault plans', request: readRequest(path, { status }) },
    ...(id === undefined
      ? []
      : [
          { label: 'Retrieve fault plan', request: readRequest(`${path}/${id}`) },
          {
            label: 'List affected requests',
            request: readRequest('developer_api_requests', { faultPlanId: id }),
          },
        ]),
  ];
}

const bulkActions: readonly BulkAction<FaultPlan>[] = [
  {
    label: 'End',
    done: 'ended',
    isDanger: true,
    effect: 'The faults no longer apply. A plan cannot be resumed.',
    isAllowed: ({ status }) => status === 'active',
    request: ({ id }) => ({ path: `app/developer_api_fault_plans/${id}/cancel`, body: {} }),
  },
];

function EndPlan({ plan, onClose }: { readonly plan: FaultPlan; readonly onClose: () => void }) {
  const { toast } = useToast();
  const cancel = useWrite<FaultPlan>(`app/developer_api_fault_plans/${plan.id}/cancel`, {
    onDone: () => {
      toast('Fault plan ended');
      onClose();
    },
  });
  return (
    <ConfirmDialog
      isOpen
      onOpenChange={onClose}
      title="End this fault plan?"
      confirmLabel="End plan"
      onConfirm={() => void cancel.write({})}
      code={cancel.request({})}
      isBusy={cancel.isBusy}
      problem={cancel.problem}
    >
      {describeFault(plan.fault)} no longer applies. It cannot be resumed; a new plan with the seed{' '}
      {plan.seed} repeats the same selection.
    </ConfirmDialog>
  );
}

function columnsFor(onEnd: ((plan: FaultPlan) => void) | undefined): readonly Column<FaultPlan>[] {
  return [
    {
      header: 'Fault',
      isWide: true,
      cell: ({ id, fault, on, operations, methods, eventTypes }) => (
        <span className="block whitespace-normal">
          {describeFault(fault)}
          <span className="block text-sm font-normal break-words text-muted">
            {[...(operations ?? []), ...(methods ?? []), ...(eventTypes ?? [])].join(', ') || `All ${on}`}
          </span>
          <span className="block font-mono text-[0.75rem] font-normal break-all text-faint">{id}</span>
        </span>
      ),
    },
    { header: 'Affects', isMinor: true, cell: (plan) => describeReach(plan) },
    { header: 'Status', cell: ({ status }) => <StatusBadge status={status} /> },
    {
      header: 'Applied',
      align: 'right',
      cell: ({ id, on, applied, seen }) =>
        on === 'requests' && applied > 0 ? (
          <Anchor to="requests" search={{ faultPlanId: id }}>
            {applied} of {seen}
            <span className="sr-only"> requests</span>
          </Anchor>
        ) : (
          `${applied} of ${seen}`
        ),
    },
    { header: 'Seed', isMinor: true, align: 'right', cell: ({ seed }) => seed },
    { header: 'Created', isMinor: true, cell: ({ createdAt }) => <Time at={createdAt} /> },
    ...(onEnd === undefined
      ? []
      : [
          {
            header: 'Action',
            cell: (plan: FaultPlan) =>
              plan.status === 'active' ? (
                <Button
                  size="small"
                  aria-label={`End plan: ${describeFault(plan.fault)}`}
                  onClick={() => onEnd(plan)}
                >
                  End
                </Button>
              ) : null,
          },
        ]),
  ];
}
