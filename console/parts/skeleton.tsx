import { classes } from './words.ts';

/** Stands where something will be; give it the size by class, as `h-4 w-32`. */
export function Skeleton({ className }: { readonly className?: string }) {
  return <div aria-hidden className={classes('animate-pulse rounded-sm bg-quiet-soft', className)} />;
}

/** A whole page that loads: said to screen readers once. */
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
