import { Braces } from 'lucide-react';
import { createContext, type ReactNode, useContext, useEffect, useState } from 'react';
import type { Read } from '../../client/queries.ts';
import { rememberRecord } from '../../client/recent.ts';
import type { ApiProblem } from '../../client/request.ts';
import { useScope } from '../../client/scope.ts';
import { CodeButton } from '../../code/code-button.tsx';
import type { NamedRequest } from '../../code/requests-dialog.tsx';
import { Anchor } from '../../parts/anchor.tsx';
import { Button, buttonClass } from '../../parts/button.tsx';
import { IdText } from '../../parts/copy-button.tsx';
import { Dialog } from '../../parts/dialog.tsx';
import { EmptyState } from '../../parts/empty-state.tsx';
import { JsonView } from '../../parts/json-view.tsx';
import { PageHeader } from '../../parts/page-header.tsx';
import { ProblemBanner } from '../../parts/problem.tsx';
import { Skeleton } from '../../parts/skeleton.tsx';
import { StatusBadge } from '../../parts/status-badge.tsx';
import { sentenceCase } from '../../parts/text.ts';

const ReportContext = createContext<(problem: ApiProblem | null) => void>(() => undefined);

/** Shows the problem of an action in the header below the header, where there is room for it. */
export function useReportProblem(problem: ApiProblem | null): void {
  const report = useContext(ReportContext);
  useEffect(() => {
    report(problem);
    return () => report(null);
  }, [report, problem]);
}

interface RecordBase {
  readonly object: string;
  readonly id: string;
  readonly status: string;
}

export interface RecordPageProps<T extends RecordBase> {
  readonly id: string;
  /** For example 'Payment': followed by the id, it is the window title. */
  readonly name: string;
  readonly parent: { readonly to: string; readonly label: string };
  readonly read: Read<T>;
  readonly heading: (record: T) => ReactNode;
  readonly description?: (record: T) => ReactNode;
  readonly actions?: (record: T) => ReactNode;
  /** The API requests about the record, shown as code. */
  readonly requests: (record: T) => readonly NamedRequest[];
  readonly children: (record: T) => ReactNode;
}

/** Frame of every record's page: header with id, amount and status, and the loading and not-found states. */
export function RecordPage<T extends RecordBase>(props: RecordPageProps<T>) {
  const { id, name, parent, read, heading, description, actions, requests, children } = props;
  const { data, problem, refresh } = read;
  const title = `${name} ${id}`;
  const [reported, setReported] = useState<ApiProblem | null>(null);
  const { orgId } = useScope();
  const isKnown = data !== undefined;
  useEffect(() => {
    if (isKnown && orgId !== null) rememberRecord(orgId, { id, title });
  }, [isKnown, orgId, id, title]);
  if (data === undefined) {
    return (
      <>
        <PageHeader title={title} parent={parent} heading={name} description={<IdText id={id} />} />
        {problem?.status === 404 ? (
          <div className="rounded-lg border bg-surface">
            <EmptyState
              title={`${name} not found`}
              action={
                <Anchor to={parent.to} className={buttonClass('primary')}>
                  All {parent.label.toLowerCase()}
                </Anchor>
              }
            >
              The id may be mistyped, or belong to another organization.
            </EmptyState>
          </div>
        ) : problem ? (
          <ProblemBanner problem={problem} onRetry={refresh} />
        ) : (
          <div
            role="status"
            className="grid gap-5 lg:grid-cols-[minmax(0,1fr)_17rem] xl:grid-cols-[minmax(0,1fr)_20rem]"
          >
            <span className="sr-only">Loading</span>
            <Skeleton className="h-80 w-full" />
            <Skeleton className="h-80 w-full" />
          </div>
        )}
      </>
    );
  }
  const details = description?.(data);
  const headerActions = actions?.(data);
  return (
    <ReportContext value={setReported}>
      <PageHeader
        title={title}
        parent={parent}
        heading={heading(data)}
        badge={<StatusBadge status={data.status} label={sentenceCase(data.status)} />}
        description={
          <div className="flex flex-wrap items-center gap-x-4 gap-y-0.5 *:max-w-full *:min-w-0">
            {details}
            <IdText id={id} what={`${name.toLowerCase()} id`} />
            <span className="flex">
              <RecordJson name={name} record={data} />
              <CodeButton title={name} requests={requests(data)} />
            </span>
          </div>
        }
        {...(headerActions === undefined ? {} : { actions: headerActions })}
      />
      {problem ? (
        <div className="mb-5">
          <ProblemBanner problem={problem} onRetry={refresh} />
        </div>
      ) : null}
      {reported ? (
        <div className="mb-5">
          <ProblemBanner problem={reported} />
        </div>
      ) : null}
      {children(data)}
    </ReportContext>
  );
}

/** The record as the API returns it. */
function RecordJson({ name, record }: { readonly name: string; readonly record: RecordBase }) {
  const [isOpen, setOpen] = useState(false);
  return (
    <>
      <Button
        size="small"
        variant="ghost"
        icon={<Braces aria-hidden size={14} />}
        onClick={() => setOpen(true)}
      >
        JSON
      </Button>
      <Dialog isOpen={isOpen} onOpenChange={setOpen} size="large" title={`${name} as JSON`}>
        <JsonView value={record} title={record.id} />
      </Dialog>
    </>
  );
}

/** Facts beside the main content; on phones below it. */
export function RecordColumns({
  aside,
  children,
}: {
  readonly aside: ReactNode;
  readonly children: ReactNode;
}) {
  return (
    <div className="grid items-start gap-5 lg:grid-cols-[minmax(0,1fr)_17rem] xl:grid-cols-[minmax(0,1fr)_20rem]">
      <div className="peer flex min-w-0 flex-col gap-5">{children}</div>
      {/* On a phone it is below the content, and shown when the content does not move it any more. */}
      <div className="flex min-w-0 flex-col gap-4 max-lg:peer-has-[.animate-pulse]:invisible">{aside}</div>
    </div>
  );
}
