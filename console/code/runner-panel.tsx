import { Suspense } from 'react';
import { lazyPart } from '../parts/lazy-part.ts';
import { Skeleton } from '../parts/skeleton.tsx';
import type { RunnerProps } from './runner.tsx';

const Runner = lazyPart(async () => ({ default: (await import('./runner.tsx')).Runner }));

/** A request as code with a button that sends it, loaded when it is shown. */
export function RunnerPanel(props: RunnerProps) {
  return (
    <Suspense fallback={<Skeleton className="h-40 w-full" />}>
      <Runner {...props} />
    </Suspense>
  );
}
