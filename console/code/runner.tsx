import { useMutation, useQueryClient } from '@tanstack/react-query';
import { Play } from 'lucide-react';
import { useState } from 'react';
import { refetchOrganization, sessionQuery } from '../client/queries.ts';
import { type ApiProblem, type ApiRequest, type Exchange, exchange } from '../client/request.ts';
import { useScope } from '../client/scope.ts';
import { useAllowed } from '../frame/session.tsx';
import { formatDuration } from '../pages/requests/logged-request.ts';
import { Button } from '../parts/button.tsx';
import { ConfirmDialog } from '../parts/dialog.tsx';
import { JsonView } from '../parts/json-view.tsx';
import { ProblemBanner } from '../parts/problem.tsx';
import { HttpStatus } from '../parts/status-badge.tsx';
import { RunEvents } from './run-events.tsx';
import SampleTabs from './sample-tabs.tsx';

export interface RunnerProps {
  readonly title: string;
  readonly request: ApiRequest;
  /** On the button; 'Run' by default. */
  readonly label?: string;
  /** The button asks for confirmation with this text. */
  readonly confirmation?: string | undefined;
}

/** A request as code, with a button that sends it and shows the response. A viewer can run reads only. */
export function Runner({ title, request, label = 'Run', confirmation }: RunnerProps) {
  const { run, isBusy, problem, result } = useRun(request);
  const isDeveloper = useAllowed('developer');
  const [isConfirming, setConfirming] = useState(false);
  const mayRun = request.method === 'GET' || isDeveloper;
  return (
    <div className="flex min-w-0 flex-col gap-3">
      <SampleTabs
        request={request}
        title={title}
        action={
          mayRun ? (
            <Button
              size="small"
              isBusy={isBusy}
              icon={<Play aria-hidden size={13} />}
              aria-label={`${label}: ${title}`}
              onClick={confirmation === undefined ? run : () => setConfirming(true)}
            >
              {label}
            </Button>
          ) : undefined
        }
      />
      <ConfirmDialog
        isOpen={isConfirming}
        onOpenChange={setConfirming}
        title={`${label} this request?`}
        confirmLabel={label}
        onConfirm={() => {
          setConfirming(false);
          run();
        }}
      >
        {confirmation}
      </ConfirmDialog>
      <div aria-live="polite" className="flex min-w-0 flex-col gap-3 empty:hidden">
        {problem ? <ProblemBanner problem={problem} /> : null}
        {result ? (
          <>
            <p className="flex items-center gap-2 text-sm text-muted">
              <HttpStatus status={result.status} />
              {formatDuration(result.durationMs)}
            </p>
            <JsonView value={result.body} title="Response" />
            {request.method === 'POST' && result.status < 300 ? <RunEvents response={result.body} /> : null}
          </>
        ) : null}
      </div>
    </div>
  );
}

interface Run {
  readonly run: () => void;
  readonly isBusy: boolean;
  readonly problem: ApiProblem | null;
  readonly result: Exchange | undefined;
}

/** Each run is a new request with its own Idempotency-Key. */
function useRun(request: ApiRequest): Run {
  const scope = useScope();
  const client = useQueryClient();
  const mutation = useMutation<Exchange, ApiProblem>({
    mutationFn: () => exchange(request, scope),
    onSuccess: async ({ status }) => {
      if (status === 401) await client.invalidateQueries({ queryKey: sessionQuery.queryKey });
      else if (request.method === 'POST') await refetchOrganization(client, scope);
    },
  });
  return {
    run: () => mutation.mutate(),
    isBusy: mutation.isPending,
    problem: mutation.error,
    result: mutation.data,
  };
}
