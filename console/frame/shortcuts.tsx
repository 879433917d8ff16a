import { useLocation, useNavigate } from '@tanstack/react-router';
import { useEffect, useRef } from 'react';
import { useLive } from '../client/live.tsx';
import { useScope } from '../client/scope.ts';
import { Dialog } from '../parts/dialog.tsx';
import { creations, navigation } from './pages.ts';
import { useAllowed } from './session.tsx';

const pages = navigation.flatMap(([, items]) => items);
const sequenceMs = 1_500;

export interface ShortcutsProps {
  readonly isOpen: boolean;
  readonly onOpenChange: (isOpen: boolean) => void;
  readonly onSearch: () => void;
}

/** Keyboard shortcuts of every page, and the sheet that lists them. */
export function Shortcuts({ isOpen, onOpenChange, onSearch }: ShortcutsProps) {
  const { orgId } = useScope();
  const { isPaused, setPaused, refresh } = useLive();
  const navigate = useNavigate();
  const section = useLocation({ select: ({ pathname }) => pathname.split('/').filter(Boolean)[1] ?? '' });
  const creation = creations.find(({ page }) => page === section) ?? creations[0];
  const mayCreate = useAllowed(creation.role);
  const latest = useRef<(key: string, afterG: boolean) => boolean>(() => false);
  latest.current = (key, afterG) => {
    if (afterG) {
      const to = pages.find((page) => page.key === key)?.to;
      if (to !== undefined) void navigate({ to: to === '' ? `/${orgId}` : `/${orgId}/${to}` });
      return to !== undefined;
    }
    const actions: Readonly<Record<string, () => void>> = {
      '?': () => onOpenChange(true),
      '/': onSearch,
      r: refresh,
      '.': () => setPaused(!isPaused),
      ...(mayCreate
        ? { n: () => void navigate({ to: `/${orgId}/${creation.page}`, search: { create: '1' } as never }) }
        : {}),
    };
    actions[key]?.();
    return key in actions;
  };
  useEffect(() => {
    let gAt = Number.NEGATIVE_INFINITY;
    const onKey = (event: KeyboardEvent) => {
      if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented || isTyping(event)) return;
      const afterG = event.timeStamp - gAt < sequenceMs;
      gAt = event.key === 'g' && !afterG ? event.timeStamp : Number.NEGATIVE_INFINITY;
      if (latest.current(event.key, afterG)) event.preventDefault();
    };
    window.addEventListener('keydown', onKey);
    return () => window.removeEventListener('keydown', onKey);
  }, []);
  return (
    <Dialog isOpen={isOpen} onOpenChange={onOpenChange} title="Keyboard shortcuts">
      <Group
        title="Everywhere"
        rows={[
          ['Ctrl K', 'Search and commands'],
          ['/', 'Search and commands'],
          ...(mayCreate ? [['n', creation.label]] : []),
          ['r', 'Refresh'],
          ['.', 'Pause or resume live updates'],
          ['?', 'This list'],
          ['Esc', 'Close a dialog'],
        ]}
      />
      <Group
        title="In a list"
        rows={[
          ['x', 'Select the focused row'],
          ['Shift x', 'Select up to the focused row'],
          ['b', 'Go to the actions on the selection'],
          ['Esc', 'Clear the selection'],
        ]}
      />
      <Group title="Go to" rows={pages.map(({ key, label }) => [`g ${key}`, label])} />
    </Dialog>
  );
}

function Group({ title, rows }: { readonly title: string; readonly rows: readonly (readonly string[])[] }) {
  return (
    <section>
      <h3 className="mb-1 font-medium">{title}</h3>
      <dl className="grid gap-x-8 sm:grid-cols-2">
        {rows.map(([keys = '', label]) => (
          <div key={keys} className="flex items-center justify-between border-b py-1.5">
            <dt className="text-muted">{label}</dt>
            <dd className="flex gap-1">
              {keys.split(' ').map((key) => (
                <kbd key={key} className="rounded-sm border bg-sunken px-1.5 font-sans text-xs">
                  {key}
                </kbd>
              ))}
            </dd>
          </div>
        ))}
      </dl>
    </section>
  );
}

/** A key in a field, a menu or a dialog belongs to it. */
function isTyping({ target }: KeyboardEvent): boolean {
  return (
    target instanceof Element &&
    target.closest(
      'input:not([type=checkbox]), textarea, select, [contenteditable], [role="dialog"], [role="alertdialog"], [role="menu"]',
    ) !== null
  );
}
