import { useLocation } from '@tanstack/react-router';
import { LibraryBig, X } from 'lucide-react';
import { Dialog } from 'radix-ui';
import { useEffect, useRef } from 'react';
import markUrl from '../mark.svg';
import { Anchor } from '../parts/anchor.tsx';
import { IconButton } from '../parts/button.tsx';
import { useReturnFocus } from '../parts/focus.ts';
import { classes } from '../parts/text.ts';
import { type Badge, useBadges } from './badges.ts';
import { type NavigationItem, navigation } from './pages.ts';
import { useSession } from './session.tsx';

/** Fixed on the left on wide screens. */
export function Sidebar() {
  return (
    <aside className="sticky top-0 hidden h-dvh flex-col border-r bg-sunken px-3 pb-3 lg:flex">
      <Brand />
      <Navigation />
    </aside>
  );
}

/** The sidebar as a drawer on narrow screens. */
export function Drawer({
  isOpen,
  onOpenChange,
}: {
  readonly isOpen: boolean;
  readonly onOpenChange: (isOpen: boolean) => void;
}) {
  const returnFocus = useReturnFocus(isOpen);
  return (
    <Dialog.Root open={isOpen} onOpenChange={onOpenChange}>
      <Dialog.Portal>
        <Dialog.Overlay className="shade-in fixed inset-0 z-50 bg-shade" />
        <Dialog.Content
          aria-describedby={undefined}
          onCloseAutoFocus={returnFocus}
          className="drawer-in fixed inset-y-0 left-0 z-50 flex w-64 flex-col border-r bg-sunken px-3 pb-3"
        >
          <Dialog.Title className="sr-only">Menu</Dialog.Title>
          <div className="flex items-center justify-between">
            <Brand />
            <Dialog.Close asChild>
              <IconButton label="Close menu" icon={<X aria-hidden size={18} />} />
            </Dialog.Close>
          </div>
          <Navigation onNavigate={() => onOpenChange(false)} />
        </Dialog.Content>
      </Dialog.Portal>
    </Dialog.Root>
  );
}

export function Brand() {
  return (
    <Anchor
      to="/"
      className="flex h-14 shrink-0 items-center gap-2.5 px-2 text-lg font-semibold tracking-[-0.01em]"
    >
      <img src={markUrl} alt="" width={24} height={24} />
      Sandbank
    </Anchor>
  );
}

function Navigation({ onNavigate }: { readonly onNavigate?: () => void }) {
  const section = useLocation({ select: ({ pathname }) => pathname.split('/').filter(Boolean)[1] ?? '' });
  const { apiVersion } = useSession();
  const badges = useBadges();
  return (
    <>
      {/* The groups scroll, and the links below them stay. The margin has room for the outline of a focused link. */}
      <nav
        aria-label="Main"
        className="-mx-1 flex min-h-0 flex-1 flex-col gap-2.5 overflow-y-auto px-1 pt-0.5 pb-2"
      >
        {navigation.map(([group, items]) => (
          <div key={group}>
            <p aria-hidden className="px-2 pb-1 text-[0.6875rem] font-medium text-faint">
              {group}
            </p>
            <ul aria-label={group} className="flex flex-col gap-px">
              {items.map((item) => (
                <Item
                  key={item.to}
                  item={item}
                  isCurrent={section === item.to || (item.also?.includes(section) ?? false)}
                  badge={badges.get(item.to)}
                  onNavigate={onNavigate}
                />
              ))}
            </ul>
          </div>
        ))}
      </nav>
      <div className="-mx-3 border-t px-3 pt-2">
        <a
          href="/docs"
          target="_blank"
          rel="noreferrer"
          className="flex h-8 shrink-0 items-center gap-2.5 rounded-md px-2 text-muted hover:bg-hover hover:text-ink"
        >
          <LibraryBig aria-hidden size={16} strokeWidth={1.75} />
          Documentation
        </a>
        <p className="px-2 pt-1 text-xs text-faint">API version {apiVersion}</p>
      </div>
    </>
  );
}

interface ItemProps {
  readonly item: NavigationItem;
  readonly isCurrent: boolean;
  readonly badge: Badge | undefined;
  readonly onNavigate: (() => void) | undefined;
}

function Item({ item, isCurrent, badge, onNavigate }: ItemProps) {
  const Icon = item.icon;
  const ref = useRef<HTMLLIElement>(null);
  // In a low window the current page may be below the visible part of the list.
  useEffect(() => {
    if (isCurrent) ref.current?.scrollIntoView({ block: 'nearest' });
  }, [isCurrent]);
  return (
    <li ref={ref}>
      <Anchor
        to={item.to}
        {...(onNavigate ? { onClick: onNavigate } : {})}
        isCurrent={isCurrent}
        className={classes(
          'flex h-7 items-center gap-2.5 rounded-md px-2 max-lg:h-9',
          isCurrent ? 'bg-accent-soft font-medium text-accent' : 'text-muted hover:bg-hover hover:text-ink',
        )}
      >
        <Icon aria-hidden size={16} strokeWidth={1.75} />
        {item.label}
        {badge === undefined ? null : (
          <span
            title={badge.meaning}
            className="ml-auto rounded-full bg-warn-soft px-1.5 text-xs font-medium text-warn tabular-nums"
          >
            {badge.count}
            <span className="sr-only"> {badge.meaning}</span>
          </span>
        )}
      </Anchor>
    </li>
  );
}
