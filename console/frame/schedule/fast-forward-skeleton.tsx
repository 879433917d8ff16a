import { Skeleton } from '../../parts/skeleton.tsx';

/** Takes about the place of the time line. */
export function FastForwardSkeleton() {
  return (
    <div role="status" className="flex flex-col gap-3 border-t pt-3">
      <span className="sr-only">Loading what falls due</span>
      <Skeleton className="h-5 w-28" />
      <Skeleton className="h-12 w-full" />
      <Skeleton className="h-11 w-full" />
      <Skeleton className="h-[2.125rem] w-full" />
      <Skeleton className="h-24 w-full" />
    </div>
  );
}
