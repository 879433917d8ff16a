import type { ReactNode } from 'react';
import type { Read } from '../../client/queries.ts';
import { Anchor } from '../../parts/anchor.tsx';
import { buttonClass } from '../../parts/button.tsx';
import { IdText } from '../../parts/copy-button.tsx';
import { EmptyState } from '../../parts/empty-state.tsx';
import { PageHeader } from '../../parts/page-header.tsx';
import { ProblemBanner } from '../../parts/problem.tsx';
import { Skeleton } from '../../parts/skeleton.tsx';
import { StatusBadge } from '../../parts/status-badge.tsx';
import { sentenceCase } from '../../parts/text.ts';

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
  readonly children: (record: T) => ReactNode;
}

/** Frame of every record's page: header with id, amount and status, and the loading and not-found states. */
export function RecordPage<T extends RecordBase>(props: RecordPageProps<T>) {
  const { id, name, parent, read, heading, description, actions, children } = props;
  const { data, problem, refresh } = read;
  const title = `${name} ${id}`;
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
          <div role="status" className="grid gap-5 lg:grid-cols-[minmax(0,1fr)_21rem]">
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
    <>
      <PageHeader
        title={title}
        parent={parent}
        heading={heading(data)}
        badge={<StatusBadge status={data.status} label={sentenceCase(data.status)} />}
        description={
          <div className="flex flex-col">
            {details}
            <IdText id={id} what={`${name.toLowerCase()} id`} />
          </div>
        }
        {...(headerActions === undefined ? {} : { actions: headerActions })}
      />
      {problem ? (
        <div className="mb-5">
          <ProblemBanner problem={problem} onRetry={refresh} />
        </div>
      ) : null}
      {children(data)}
    </>
  );
}

/** Facts beside the diagram and the timeline; on phones above them. */
export function RecordColumns({
  aside,
  children,
}: {
  readonly aside: ReactNode;
  readonly children: ReactNode;
}) {
  return (
    <div className="grid gap-5 lg:grid-cols-[minmax(0,1fr)_21rem]">
      <div className="flex min-w-0 flex-col gap-5 lg:col-start-2 lg:row-start-1">{aside}</div>
      <div className="flex min-w-0 flex-col gap-5 lg:col-start-1 lg:row-start-1">{children}</div>
    </div>
  );
}
