import { CircleAlert } from 'lucide-react';
import { useCapabilities, useLimits } from '../../client/capabilities.ts';
import type { Attempt } from '../../generated/shapes.ts';
import { CodeBlock } from '../../parts/code-block.tsx';
import { HttpStatus } from '../../parts/status-badge.tsx';
import { Time } from '../../parts/time.tsx';
import { headerText } from './labels.ts';

/** One attempt in one line. */
export function AttemptSummary({ attempt }: { readonly attempt: Attempt }) {
  return (
    <span className="flex flex-wrap items-center gap-x-3 gap-y-1">
      <span className="font-medium">Attempt {attempt.number}</span>
      <HttpStatus status={attempt.responseStatus} />
      <span className="text-sm text-muted tabular-nums">{attempt.durationMs.toLocaleString('en')} ms</span>
      <span className="text-sm text-muted">
        <Time at={attempt.at} show="both" />
      </span>
    </span>
  );
}

/** All attempts of a delivery, newest first; the first one is expanded. */
export function AttemptList({ attempts }: { readonly attempts: readonly Attempt[] }) {
  return (
    <ul className="border-t">
      {attempts.map((attempt, index) => (
        <li key={attempt.number} className="border-b last:border-b-0">
          <details open={index === 0}>
            <summary className="px-5 py-3 marker:text-muted hover:bg-hover focus-visible:outline-offset-[-2px] [&>span]:inline-flex max-sm:[&>span]:max-w-[calc(100%-1.5rem)] max-sm:[&>span]:align-top">
              <AttemptSummary attempt={attempt} />
            </summary>
            <div className="px-5 pt-1 pb-5">
              <AttemptView attempt={attempt} />
            </div>
          </details>
        </li>
      ))}
    </ul>
  );
}

/** Request and response of an attempt. The receiver controls the content, so it is shown as plain text. */
export function AttemptView({ attempt }: { readonly attempt: Attempt }) {
  return (
    <div className="flex flex-col gap-4">
      {attempt.error === null ? null : <AttemptError error={attempt.error} />}
      <p className="text-sm text-muted">
        Real time: <Time at={attempt.sentAt} kind="wall" show="both" /> (
        <code className="font-mono">webhook-timestamp</code>)
      </p>
      {attempt.bodiesCleared ? (
        <p className="text-sm text-muted">
          Headers and body were cleared after the retention period. The status and the error remain.
        </p>
      ) : (
        <>
          <Headers title="Request headers" headers={attempt.requestHeaders} none="No request was sent." />
          {attempt.responseStatus === null ? null : <Response attempt={attempt} />}
        </>
      )}
    </div>
  );
}

function Response({ attempt }: { readonly attempt: Attempt }) {
  const body = attempt.responseBody ?? '';
  const bytesMax = useLimits().webhookResponseBytesMax;
  return (
    <>
      <Headers
        title="Response headers"
        headers={attempt.responseHeaders}
        none="The response had no headers."
      />
      {body === '' ? (
        <p className="text-sm text-muted">The response had no body.</p>
      ) : (
        <CodeBlock
          title={
            bytesMax === undefined ? 'Response body' : `Response body, the first ${bytesMax / 1_024} KiB`
          }
          what="response body"
          code={body}
          linesMax={30}
        />
      )}
    </>
  );
}

function Headers({
  title,
  headers,
  none,
}: {
  readonly title: string;
  readonly headers: Readonly<Record<string, string>> | null;
  readonly none: string;
}) {
  if (headers === null || Object.keys(headers).length === 0) {
    return <p className="text-sm text-muted">{none}</p>;
  }
  return <CodeBlock title={title} what="headers" code={headerText(headers)} />;
}

function AttemptError({ error }: { readonly error: string }) {
  const known = useCapabilities()?.attemptErrors ?? [];
  const advice = known.find(({ prefix }) => error.startsWith(prefix))?.advice;
  return (
    <div className="flex gap-2.5 rounded-md bg-bad-soft px-3.5 py-2.5 text-bad">
      <CircleAlert aria-hidden size={17} className="mt-0.5 shrink-0" />
      <div className="min-w-0">
        <p className="font-medium break-words">{error}</p>
        {advice === undefined ? null : <p className="text-sm">{advice}</p>}
      </div>
    </div>
  );
}
