import { type ErrorComponentProps, Link } from '@tanstack/react-router';
import { asProblem } from '../client/request.ts';
import { buttonClass } from '../parts/button.tsx';
import { EmptyState } from '../parts/empty-state.tsx';
import { ProblemBanner } from '../parts/problem.tsx';

/** A path that no page has, inside the layout. */
export function MissingPage() {
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

/** The same without a layout around it: also an organization that is not the person's own. */
export function Missing() {
  return (
    <main className="mx-auto max-w-lg pt-16">
      <MissingPage />
    </main>
  );
}

/** A page that failed while it was drawn. After an update of the server the old modules are gone: loading anew mends it. */
export function Crash({ error }: ErrorComponentProps) {
  return (
    <div className="mx-auto max-w-lg pt-16">
      <ProblemBanner problem={asProblem(error)} onRetry={() => location.reload()} />
    </div>
  );
}
