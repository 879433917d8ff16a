import { type ErrorComponentProps, Link } from '@tanstack/react-router';
import { useState } from 'react';
import { asProblem, get } from '../client/request.ts';
import { buttonClass } from '../parts/button.tsx';
import { EmptyState } from '../parts/empty-state.tsx';
import { ProblemBanner } from '../parts/problem.tsx';

/** The not-found page inside the layout. */
export function NotFoundPage() {
  return (
    <>
      <title>Not found · Sandbank</title>
      <h1 tabIndex={-1} className="sr-only">
        Not found
      </h1>
      <EmptyState
        title="This page does not exist"
        action={
          <Link to="/" className={buttonClass('primary')}>
            Go to the overview
          </Link>
        }
      >
        The address may be mistyped, or the record belongs to another organization.
      </EmptyState>
    </>
  );
}

/** The not-found page without the layout, also for organizations that the person is not a member of. */
export function NotFound() {
  return (
    <main className="mx-auto max-w-lg pt-16">
      <NotFoundPage />
    </main>
  );
}

/**
 * A page that threw while rendering, or whose module could not be loaded. After a server update the old modules are gone:
 * reloading fixes it. Reloading while the server does not respond would show the browser's own error page.
 */
export function ErrorPage({ error }: ErrorComponentProps) {
  const [problem, setProblem] = useState(() => asProblem(error));
  const retry = () =>
    get('session').then(
      () => location.reload(),
      (cause: unknown) => setProblem(asProblem(cause)),
    );
  return (
    <div className="mx-auto max-w-lg pt-16">
      <ProblemBanner problem={problem} onRetry={() => void retry()} />
    </div>
  );
}
