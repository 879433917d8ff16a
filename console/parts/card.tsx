import type { ReactNode } from 'react';
import { classes } from './text.ts';

export interface CardProps {
  readonly title?: ReactNode;
  readonly description?: ReactNode;
  /** To the right of the title and the description; below them on phones. */
  readonly actions?: ReactNode;
  readonly footer?: ReactNode;
  /** Without padding, for a table or list that has its own. */
  readonly isFlush?: boolean;
  /** Less padding and a smaller title, for a side column. */
  readonly isCompact?: boolean;
  readonly className?: string;
  readonly children?: ReactNode;
}

/** A framed section; its title is an h2. */
export function Card(props: CardProps) {
  const { title, description, actions, footer, isFlush, isCompact = false, className, children } = props;
  const hasHead = title !== undefined || actions !== undefined;
  return (
    <section className={classes('min-w-0 rounded-lg border bg-surface', className)}>
      {hasHead ? (
        <div
          className={classes(
            'flex items-start justify-between gap-x-4 gap-y-2',
            isCompact ? 'px-4 pt-3' : 'px-5 pt-4 max-sm:flex-wrap',
            isFlush && 'pb-3',
            children === undefined && 'pb-4',
          )}
        >
          <div className="min-w-0">
            <h2 className={classes(isCompact ? 'text-base' : 'text-lg', 'font-semibold')}>{title}</h2>
            {description === undefined ? null : <p className="text-sm text-muted">{description}</p>}
          </div>
          {actions === undefined ? null : <div className="flex shrink-0 flex-wrap gap-2">{actions}</div>}
        </div>
      ) : null}
      {children === undefined ? null : (
        <div className={isFlush ? '' : bodyPadding(hasHead, isCompact)}>{children}</div>
      )}
      {footer === undefined ? null : <div className="border-t px-5 py-3">{footer}</div>}
    </section>
  );
}

function bodyPadding(hasHead: boolean, isCompact: boolean): string {
  if (isCompact) return classes('px-4 pb-3', hasHead ? 'pt-2' : 'pt-3');
  return classes('px-5 pb-5', hasHead ? 'pt-4' : 'pt-5');
}

export interface ActionCardProps {
  readonly title: string;
  readonly description: string;
  readonly action: ReactNode;
  /** Why the person cannot do it, instead of the action. */
  readonly obstacle?: ReactNode;
}

/** A card for one action. */
export function ActionCard({ title, description, action, obstacle }: ActionCardProps) {
  if (obstacle === undefined) return <Card title={title} description={description} actions={action} />;
  return (
    <Card title={title} description={description}>
      <p className="text-sm text-muted">{obstacle}</p>
    </Card>
  );
}
