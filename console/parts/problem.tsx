import { CircleAlert, RotateCw } from 'lucide-react';
import { withShownTimes } from '../client/now.ts';
import type { ApiProblem } from '../client/request.ts';
import { Button } from './button.tsx';
import { CopyButton } from './copy-button.tsx';
import { Prose } from './prose.tsx';
import { sentenceCase } from './text.ts';

export interface ProblemBannerProps {
  readonly problem: ApiProblem;
  /** Shows 'Try again'. */
  readonly onRetry?: () => void;
}

/** What the person typed is wrong: neither the log nor the documentation says more. */
const plainCodes = new Set(['sign_in_failed', 'two_factor_failed', 'passkey_failed']);

/** An error: message, code, request id and a link to the documentation. A failed sign-in has only its message. */
export function ProblemBanner({ problem, onRetry }: ProblemBannerProps) {
  return (
    <div role="alert" className="flex gap-2.5 rounded-md bg-bad-soft px-3.5 py-3 text-bad">
      <CircleAlert aria-hidden size={17} className="mt-0.5 shrink-0" />
      <div className="min-w-0 flex-1">
        <p className="font-medium break-words">
          <Prose text={withShownTimes(problem.message)} />
        </p>
        {problem.retryAfter === undefined ? null : (
          <p className="text-sm">Try again in {problem.retryAfter} s.</p>
        )}
        {problem.allowedActions && problem.allowedActions.length > 0 ? (
          <p className="text-sm">Allowed actions: {problem.allowedActions.map(sentenceCase).join(', ')}.</p>
        ) : null}
        {plainCodes.has(problem.code) ? null : <Reference problem={problem} />}
      </div>
      {onRetry ? (
        <Button size="small" onClick={onRetry} icon={<RotateCw aria-hidden size={14} />}>
          Try again
        </Button>
      ) : null}
    </div>
  );
}

function Reference({ problem }: Pick<ProblemBannerProps, 'problem'>) {
  return (
    <p className="mt-0.5 flex flex-wrap items-center gap-x-3 font-mono text-xs">
      <span>{problem.code}</span>
      {problem.requestId === undefined ? null : (
        <span className="inline-flex items-center gap-0.5 break-all">
          {problem.requestId}
          <CopyButton text={problem.requestId} what="request id" className="text-bad" />
        </span>
      )}
      {problem.docUrl === undefined ? null : (
        <a
          href={problem.docUrl}
          target="_blank"
          rel="noreferrer"
          className="font-sans underline underline-offset-2"
        >
          Documentation
        </a>
      )}
    </p>
  );
}
