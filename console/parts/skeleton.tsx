import { classes } from './text.ts';

/** A loading placeholder; set its size by class, such as `h-4 w-32`. */
export function Skeleton({ className }: { readonly className?: string }) {
  return <div aria-hidden className={classes('animate-pulse rounded-sm bg-quiet-soft', className)} />;
}

/** Placeholder for a whole page, announced once by screen readers. */
export function PageSkeleton() {
  return (
    <div role="status" className="flex flex-col gap-4">
      <span className="sr-only">Loading</span>
      <Skeleton className="h-7 w-48" />
      <Skeleton className="h-40 w-full" />
      <Skeleton className="h-40 w-full" />
    </div>
  );
}
