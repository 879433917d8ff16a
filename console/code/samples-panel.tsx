import { Suspense } from 'react';
import { lazyPart } from '../parts/lazy-part.ts';
import { Skeleton } from '../parts/skeleton.tsx';
import type { SampleTabsProps } from './sample-tabs.tsx';

// The samples need the table of all operations: load it when somebody opens them.
const SampleTabs = lazyPart(() => import('./sample-tabs.tsx'));

/** One request as code, loaded when it is shown. */
export function SamplesPanel(props: SampleTabsProps) {
  return (
    <Suspense fallback={<Skeleton className="h-40 w-full" />}>
      <SampleTabs {...props} />
    </Suspense>
  );
}
