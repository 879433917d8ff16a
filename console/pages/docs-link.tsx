import type { ReactNode } from 'react';
import { classes } from '../parts/text.ts';

export interface DocsLinkProps {
  /** A page on this server, such as `/docs/errors#invalid_request`. */
  readonly to: string;
  readonly className?: string;
  readonly children: ReactNode;
}

/** A link to the documentation in a new tab. */
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
