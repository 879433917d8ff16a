import type { ReactNode } from 'react';
import { classes } from '../parts/words.ts';

export interface DocsLinkProps {
  /** A page of the server itself, as `/docs/errors#invalid_request`. */
  readonly to: string;
  readonly className?: string;
  readonly children: ReactNode;
}

/** The way to the documentation, in a tab of its own. */
export function DocsLink({ to, className, children }: DocsLinkProps) {
  return (
    <a
      href={to}
      target="_blank"
      rel="noreferrer"
      className={classes(
        'text-accent underline decoration-accent/40 underline-offset-2 hover:decoration-accent',
        className,
      )}
    >
      {children}
      <span className="sr-only"> (opens in a new tab)</span>
    </a>
  );
}

export function errorDocs(code: string): string {
  return `/docs/errors#${encodeURIComponent(code)}`;
}
