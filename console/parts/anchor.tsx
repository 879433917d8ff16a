import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { useScope } from '../client/scope.ts';
import { classes } from './words.ts';

export interface AnchorProps {
  /** Inside the organization, for example `payments/pay_1`; with a leading slash from the top, as `/account`. */
  readonly to: string;
  readonly search?: Readonly<Record<string, string | undefined>>;
  readonly className?: string;
  readonly children: ReactNode;
  readonly onClick?: () => void;
  /** The page that is shown, in a menu of pages. */
  readonly isCurrent?: boolean;
}

/** The way to another page of the console. The application stays chosen. */
export function Anchor({ to, search, className, children, onClick, isCurrent }: AnchorProps) {
  const { orgId } = useScope();
  const target = to.startsWith('/') ? to : `/${orgId}${to === '' ? '' : `/${to}`}`;
  return (
    <Link
      to={target}
      {...(search ? { search } : {})}
      {...(onClick ? { onClick } : {})}
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

/** The page of a record by the prefix of its id; undefined for what has none. */
export function pageOf(id: string): string | undefined {
  const page = pages[id.slice(0, id.indexOf('_'))];
  return page === undefined ? undefined : `${page}/${id}`;
}

/** An id that leads to its page, when it has one. */
export function IdLink({ id, className }: { readonly id: string; readonly className?: string }) {
  const to = pageOf(id);
  const look = classes('font-mono text-[0.75rem]', className);
  if (to === undefined) return <span className={look}>{id}</span>;
  return (
    <Anchor to={to} className={classes(look, 'text-accent underline-offset-2 hover:underline')}>
      {id}
    </Anchor>
  );
}
