import { Terminal } from 'lucide-react';
import { useMemo } from 'react';
import { copyText } from '../../client/clipboard.ts';
import { useRead } from '../../client/queries.ts';
import type { ApiRequest } from '../../client/request.ts';
import { ScopeContext, useScope } from '../../client/scope.ts';
import { Runner } from '../../code/runner.tsx';
import SampleTabs from '../../code/sample-tabs.tsx';
import { sampleOf } from '../../code/samples.ts';
import { useRecordId } from '../../frame/params.ts';
import { useSession } from '../../frame/session.tsx';
import type { LoggedRequest } from '../../generated/shapes.ts';
import { Anchor, IdLink } from '../../parts/anchor.tsx';
import { Button } from '../../parts/button.tsx';
import { Card } from '../../parts/card.tsx';
import { IdText } from '../../parts/copy-button.tsx';
import { JsonView } from '../../parts/json-view.tsx';
import { KeyValue } from '../../parts/key-value.tsx';
import { PageHeader } from '../../parts/page-header.tsx';
import { ProblemBanner } from '../../parts/problem.tsx';
import { Skeleton } from '../../parts/skeleton.tsx';
import { HttpStatus, StatusBadge } from '../../parts/status-badge.tsx';
import { Time } from '../../parts/time.tsx';
import { useToast } from '../../parts/toast.tsx';
import { DocsLink, errorDocs } from '../docs-link.tsx';
import { ActorName } from '../log/actor.tsx';
import { apiRequestOf, canSendAgain, formatDuration, recordIds, shortPath } from './logged-request.ts';

const parent = { to: 'requests', label: 'Requests' };

export function RequestDetail() {
  const id = useRecordId();
  const { data, problem, refresh } = useRead<LoggedRequest>(`app/developer_api_requests/${id}`);
  if (data !== undefined) return <Content request={data} />;
  return (
    <>
      <PageHeader title={`Request ${id}`} parent={parent} />
      {problem === null ? (
        <div role="status" className="flex flex-col gap-5">
          <span className="sr-only">Loading</span>
          <Skeleton className="h-56 w-full" />
          <Skeleton className="h-72 w-full" />
        </div>
      ) : problem.status === 404 ? (
        <div className="rounded-lg border bg-surface px-5 py-4 text-muted">
          This request is not in the log. Requests are retained for some days; under heavy load some are only
          counted, and reads by the console are never logged.
        </div>
      ) : (
        <ProblemBanner problem={problem} onRetry={refresh} />
      )}
    </>
  );
}

function Content({ request }: { readonly request: LoggedRequest }) {
  const { publicUrl } = useSession();
  const { toast } = useToast();
  const apiRequest = apiRequestOf(request);
  const curl = apiRequest && sampleOf('curl', apiRequest, publicUrl);
  const copy = async (text: string) => {
    if (await copyText(text)) toast('Copied as curl');
    else toast('The browser does not allow copying here. Copy the code below.', { isBad: true });
  };
  return (
    <>
      <PageHeader
        title={`Request ${request.id}`}
        parent={parent}
        heading={
          <span className="font-mono text-lg">
            {request.method} {shortPath(request.path)}
          </span>
        }
        badge={
          <>
            <HttpStatus status={request.httpStatus} />
            {request.isReplay ? <StatusBadge status="replay" tone="note" label="Replay" /> : null}
            {request.faultPlanId === null ? null : (
              <StatusBadge status="fault" tone="note" label="Injected fault" />
            )}
          </>
        }
        actions={
          curl === undefined ? undefined : (
            <Button onClick={() => void copy(curl)} icon={<Terminal aria-hidden size={15} />}>
              Copy as curl
            </Button>
          )
        }
      />
      <div className="flex flex-col gap-5">
        <Facts request={request} />
        <Records ids={recordIds(request)} />
        <div className="grid items-start gap-5 lg:grid-cols-2">
          <Body title="Request body" text={request.requestBody} />
          <Body title="Response body" text={request.responseBody} />
        </div>
        {apiRequest === undefined ? null : (
          <Card
            title="Code"
            description="Uses your key in SANDBANK_API_KEY and a new idempotency key. Replace redacted values."
          >
            {canSendAgain(request) ? (
              <Again request={apiRequest} applicationId={request.applicationId} />
            ) : (
              <SampleTabs request={apiRequest} title="This request" />
            )}
          </Card>
        )}
      </div>
    </>
  );
}

interface AgainProps {
  readonly request: ApiRequest;
  /** Null for a request to the whole organization. */
  readonly applicationId: string | null;
}

/** The code with a button that sends the request again, in the application that it was sent to. */
function Again({ request, applicationId }: AgainProps) {
  const { orgId, appId } = useScope();
  const scope = useMemo(() => ({ orgId, appId: applicationId ?? appId }), [orgId, appId, applicationId]);
  const isWrite = request.method === 'POST';
  return (
    <ScopeContext value={scope}>
      <Runner
        title="This request"
        request={request}
        label={isWrite ? 'Resend' : 'Run'}
        confirmation={
          isWrite
            ? 'Sends it again with your session and a new idempotency key, so it takes effect a second time.'
            : undefined
        }
      />
    </ScopeContext>
  );
}

function Facts({ request }: { readonly request: LoggedRequest }) {
  return (
    <Card>
      <KeyValue
        isWide
        items={[
          ['Request id', <IdText key="id" id={request.id} what="request id" />],
          ['Time', <Time key="at" at={request.at} kind="wall" show="both" />],
          ['Duration', formatDuration(request.durationMs)],
          ['Actor', <ActorName key="actor" actor={request.actor} />],
          [
            'IP address',
            request.ip === null ? null : (
              <span key="ip" className="font-mono text-sm">
                {request.ip}
              </span>
            ),
          ],
          [
            'Operation',
            request.route ? (
              <span key="route" className="font-mono text-sm">
                {request.route}
              </span>
            ) : null,
          ],
          [
            'Error',
            request.errorCode === null ? null : (
              <DocsLink key="error" to={errorDocs(request.errorCode)} className="font-mono text-sm">
                {request.errorCode}
              </DocsLink>
            ),
          ],
          [
            'Fault plan',
            request.faultPlanId === null ? null : (
              <Anchor key="plan" to="requests" search={{ faultPlanId: request.faultPlanId }}>
                <span className="font-mono text-sm">{request.faultPlanId}</span>
              </Anchor>
            ),
          ],
          [
            'Idempotency key',
            request.idempotencyKey === null ? null : (
              <IdText key="key" id={request.idempotencyKey} what="idempotency key" />
            ),
          ],
          [
            'Replay',
            request.isReplay ? 'Yes: this is the stored response to the first request with this key.' : 'No',
          ],
          [
            'Query',
            request.query ? (
              <code key="query" className="font-mono text-sm break-all">
                {request.query}
              </code>
            ) : null,
          ],
        ]}
      />
    </Card>
  );
}

function Records({ ids }: { readonly ids: readonly string[] }) {
  if (ids.length === 0) return null;
  return (
    <Card title="Related records">
      <ul className="flex flex-wrap gap-x-5 gap-y-1.5">
        {ids.map((id) => (
          <li key={id}>
            <IdLink id={id} />
          </li>
        ))}
      </ul>
    </Card>
  );
}

function Body({ title, text }: { readonly title: string; readonly text: string | null | undefined }) {
  if (text) return <JsonView value={text} title={title} />;
  return (
    <p className="rounded-md border bg-sunken px-3 py-2.5 text-sm text-muted">
      {title}: none, or not retained.
    </p>
  );
}
