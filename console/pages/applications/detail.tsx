import { useRead } from '../../client/queries.ts';
import { useScope } from '../../client/scope.ts';
import { useRecordId } from '../../frame/params.ts';
import { useAllowed } from '../../frame/session.tsx';
import type { Application } from '../../generated/shapes.ts';
import { Anchor } from '../../parts/anchor.tsx';
import { buttonClass } from '../../parts/button.tsx';
import { IdText } from '../../parts/copy-button.tsx';
import { PageHeader } from '../../parts/page-header.tsx';
import { ProblemBanner } from '../../parts/problem.tsx';
import { Skeleton } from '../../parts/skeleton.tsx';
import { StatusBadge } from '../../parts/status-badge.tsx';
import { Time } from '../../parts/time.tsx';
import { ArchiveCard } from './archive.tsx';
import { Settings } from './settings.tsx';

const parent = { to: 'applications', label: 'Applications' };

export function ApplicationDetail() {
  const id = useRecordId();
  const { data, problem, refresh } = useRead<Application>(`org/applications/${encodeURIComponent(id)}`);
  if (data !== undefined) return <Content key={data.id} application={data} />;
  return (
    <>
      <PageHeader title="Application" parent={parent} />
      {problem ? (
        <ProblemBanner problem={problem} onRetry={refresh} />
      ) : (
        <div role="status" className="flex flex-col gap-5">
          <span className="sr-only">Loading</span>
          <Skeleton className="h-28 w-full" />
          <Skeleton className="h-44 w-full" />
          <Skeleton className="h-44 w-full" />
        </div>
      )}
    </>
  );
}

function Content({ application }: { readonly application: Application }) {
  const { id, name, status, createdAt, updatedAt } = application;
  const { appId } = useScope();
  const mayWrite = useAllowed('developer');
  return (
    <>
      <PageHeader
        title={name}
        parent={parent}
        badge={<StatusBadge status={status} />}
        description={
          <span className="flex flex-wrap items-center gap-x-3 text-sm">
            <IdText id={id} what="application id" />
            <span>
              Created <Time at={createdAt} kind="wall" show="relative" />
            </span>
            <span>
              Changed <Time at={updatedAt} kind="wall" show="relative" />
            </span>
          </span>
        }
        actions={
          <>
            <Anchor to="keys" search={{ app: id }} className={buttonClass()}>
              API keys
            </Anchor>
            {id === appId ? null : (
              <Anchor to="" search={{ app: id }} className={buttonClass()}>
                Switch to this application
              </Anchor>
            )}
          </>
        }
      />
      {mayWrite ? null : (
        <p className="mb-5 rounded-md bg-note-soft px-3.5 py-2 text-note">
          Read-only: changing these settings requires the developer role.
        </p>
      )}
      {status === 'archived' && id !== appId ? (
        <p className="mb-5 rounded-md bg-warn-soft px-3.5 py-2 text-warn">
          This application is archived. Restore it to change its settings.
        </p>
      ) : null}
      <div className="flex flex-col gap-5">
        <Settings application={application} isReadOnly={!mayWrite || status === 'archived'} />
        <ArchiveCard application={application} />
      </div>
    </>
  );
}
