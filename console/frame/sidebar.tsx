import { useLocation } from '@tanstack/react-router';
import { X } from 'lucide-react';
import { Dialog } from 'radix-ui';
import markUrl from '../mark.svg';
import { Anchor } from '../parts/anchor.tsx';
import { IconButton } from '../parts/button.tsx';
import { useReturnFocus } from '../parts/focus.ts';
import { classes } from '../parts/text.ts';
import { type NavigationItem, navigation } from './pages.ts';
import { useSession } from './session.tsx';

/** Fixed on the left on wide screens. */
export function Sidebar() {
  return (
    <aside className="sticky top-0 hidden h-dvh flex-col overflow-y-auto border-r bg-sunken px-3 pb-4 lg:flex">
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
          className="drawer-in fixed inset-y-0 left-0 z-50 flex w-64 flex-col overflow-y-auto border-r bg-sunken px-3 pb-4"
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
  return (
    <>
      <nav aria-label="Main" className="flex flex-1 flex-col gap-4 pt-2">
        {navigation.map(([group, items]) => (
          <ul key={group} aria-label={group} className="flex flex-col gap-px">
            {items.map((item) => (
              <Item
                key={item.to}
                item={item}
                isCurrent={section === item.to || (item.also?.includes(section) ?? false)}
                onNavigate={onNavigate}
              />
            ))}
          </ul>
        ))}
      </nav>
      <p className="px-2 pt-4 text-xs text-faint">API version {apiVersion}</p>
    </>
  );
}

interface ItemProps {
  readonly item: NavigationItem;
  readonly isCurrent: boolean;
  readonly onNavigate: (() => void) | undefined;
}

function Item({ item, isCurrent, onNavigate }: ItemProps) {
  const Icon = item.icon;
  return (
    <li>
      <Anchor
        to={item.to}
        {...(onNavigate ? { onClick: onNavigate } : {})}
        isCurrent={isCurrent}
        className={classes(
          'flex h-8 items-center gap-2.5 rounded-md px-2 max-lg:h-9',
          isCurrent ? 'bg-accent-soft font-medium text-accent' : 'text-muted hover:bg-hover hover:text-ink',
        )}
      >
        <Icon aria-hidden size={16} strokeWidth={1.75} />
        {item.label}
      </Anchor>
    </li>
  );
}
