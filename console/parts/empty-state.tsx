import type { ReactNode } from 'react';

export interface EmptyStateProps {
  readonly icon?: ReactNode;
  readonly title: string;
  /** What the list contains and what to do next. */
  readonly children?: ReactNode;
  readonly action?: ReactNode;
}

/** Shown instead of an empty list, with the next step. */
export function EmptyState({ icon, title, children, action }: EmptyStateProps) {
  return (
    <div className="flex flex-col items-center px-6 py-14 text-center">
      {icon === undefined ? null : (
        <div className="mb-3 flex size-10 items-center justify-center rounded-lg bg-accent-soft text-accent">
          {icon}
        </div>
      )}
      <h2 className="text-lg font-semibold">{title}</h2>
      {children === undefined ? null : <div className="mt-1 max-w-md text-muted">{children}</div>}
      {action === undefined ? null : <div className="mt-4 flex flex-wrap justify-center gap-2">{action}</div>}
    </div>
  );
}
