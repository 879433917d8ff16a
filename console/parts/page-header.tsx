import { ChevronLeft } from 'lucide-react';
import type { ReactNode } from 'react';
import { Anchor } from './anchor.tsx';
import { Prose } from './prose.tsx';

export interface PageHeaderProps {
  /** Also the window title. */
  readonly title: string;
  /** Next to the title: a StatusBadge or an amount. */
  readonly badge?: ReactNode;
  readonly description?: ReactNode;
  readonly actions?: ReactNode;
  /** The list that a detail page belongs to. */
  readonly parent?: { readonly to: string; readonly label: string };
  /** Set if the heading differs from the window title. */
  readonly heading?: ReactNode;
}

/** The first element of every page, also while loading: navigation moves the focus to its h1. */
export function PageHeader({ title, badge, description, actions, parent, heading }: PageHeaderProps) {
  return (
    <header className="mb-6 flex flex-wrap items-start justify-between gap-x-6 gap-y-3 lg:flex-nowrap">
      <title>{`${title} · Sandbank`}</title>
      <div className="min-w-0">
        {parent === undefined ? null : (
          <nav aria-label="Breadcrumb" className="mb-1 text-sm text-muted">
            <Anchor
              to={parent.to}
              className="inline-flex items-center gap-0.5 hover:text-ink hover:underline"
            >
              <ChevronLeft aria-hidden size={14} className="-ml-1" />
              {parent.label}
            </Anchor>
          </nav>
        )}
        <div className="flex flex-wrap items-center gap-x-3 gap-y-1">
          <h1 tabIndex={-1} className="text-xl font-semibold tracking-[-0.01em] [overflow-wrap:anywhere]">
            {heading ?? title}
          </h1>
          {badge}
        </div>
        {description === undefined ? null : (
          <div className="mt-1 max-w-[42rem] text-pretty text-muted [overflow-wrap:anywhere]">
            <Prose text={description} />
          </div>
        )}
      </div>
      {actions === undefined ? null : (
        <div className="flex flex-wrap items-center gap-2 lg:shrink-0">{actions}</div>
      )}
    </header>
  );
}
