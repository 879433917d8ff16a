import { useNavigate } from '@tanstack/react-router';
import { useEffect, useRef, useState } from 'react';
import { useLive } from '../client/live.tsx';
import { useScope } from '../client/scope.ts';
import { Dialog } from '../parts/dialog.tsx';

/** After `g`: the first letter of most pages. */
const goTo: Readonly<Record<string, readonly [page: string, label: string]>> = {
  o: ['', 'Overview'],
  p: ['payments', 'Payments'],
  r: ['refunds', 'Refunds'],
  d: ['disputes', 'Disputes'],
  c: ['customers', 'Customers'],
  t: ['transfers', 'Transfers'],
  l: ['ledger', 'Ledger'],
  w: ['webhooks', 'Webhooks'],
  e: ['events', 'Events'],
  q: ['requests', 'Requests'],
  f: ['faults', 'Faults'],
  a: ['audit', 'Audit'],
  k: ['keys', 'API keys'],
};
const sequenceMs = 1_500;

/** Keyboard shortcuts of every page, and the sheet that lists them. */
export function Shortcuts({ onSearch }: { readonly onSearch: () => void }) {
  const [isOpen, setOpen] = useState(false);
  const { orgId } = useScope();
  const { isPaused, setPaused, refresh } = useLive();
  const navigate = useNavigate();
  const latest = useRef<(key: string, afterG: boolean) => boolean>(() => false);
  latest.current = (key, afterG) => {
    if (afterG) {
      const page = goTo[key]?.[0];
      if (page !== undefined) void navigate({ to: page === '' ? `/${orgId}` : `/${orgId}/${page}` });
      return page !== undefined;
    }
    const actions: Readonly<Record<string, () => void>> = {
      '?': () => setOpen(true),
      '/': onSearch,
      r: refresh,
      '.': () => setPaused(!isPaused),
      n: () => void navigate({ to: `/${orgId}/payments`, search: { create: '1' } as never }),
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
    <Dialog isOpen={isOpen} onOpenChange={setOpen} title="Keyboard shortcuts">
      <Group
        title="Everywhere"
        rows={[
          ['Ctrl K', 'Search and commands'],
          ['/', 'Search and commands'],
          ['n', 'Create payment'],
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
      <Group title="Go to" rows={Object.entries(goTo).map(([key, [, label]]) => [`g ${key}`, label])} />
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
