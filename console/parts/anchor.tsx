import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { useScope } from '../client/scope.ts';
import { classes } from './text.ts';

export interface AnchorProps {
  /** A path inside the organization, such as `payments/pay_1`, or an absolute one with a leading slash, such as `/account`. */
  readonly to: string;
  readonly search?: Readonly<Record<string, string | undefined>>;
  readonly className?: string;
  /** The whole text, for a link that may be cut off. */
  readonly title?: string;
  readonly children: ReactNode;
  readonly onClick?: () => void;
  /** Marks the current page in a menu. */
  readonly isCurrent?: boolean;
}

/** A link to another page of the console; the selected application stays selected. */
export function Anchor({ to, search, className, title, children, onClick, isCurrent }: AnchorProps) {
  const { orgId } = useScope();
  const target = to.startsWith('/') ? to : `/${orgId}${to === '' ? '' : `/${to}`}`;
  return (
    <Link
      to={target}
      {...(search ? { search } : {})}
      {...(onClick ? { onClick } : {})}
      title={title}
      aria-current={isCurrent ? 'page' : undefined}
      className={
        className ?? 'text-accent underline decoration-accent/40 underline-offset-2 hover:decoration-accent'
      }
    >
      {children}
    </Link>
  );
}

const pages: Readonly<Record<string, string>> = {
  pay: 'payments',
  cus: 'customers',
  trf: 'transfers',
  rfd: 'refunds',
  dsp: 'disputes',
  whk: 'webhooks',
  evt: 'events',
  dlv: 'deliveries',
  req: 'requests',
  app: 'applications',
};

/** A record's page by the prefix of its id; undefined for other ids. */
export function pageOf(id: string): string | undefined {
  const page = pages[id.slice(0, id.indexOf('_'))];
  return page === undefined ? undefined : `${page}/${id}`;
}

/** An id that links to its record's page, if there is one. */
export function IdLink({ id, className }: { readonly id: string; readonly className?: string }) {
  const to = pageOf(id);
  const baseClass = classes('font-mono text-[0.75rem]', className);
  if (to === undefined) return <span className={baseClass}>{id}</span>;
  return (
    <Anchor to={to} className={classes(baseClass, 'text-accent underline-offset-2 hover:underline')}>
      {id}
    </Anchor>
  );
}
