import { useNavigate } from '@tanstack/react-router';
import { Command } from 'cmdk';
import { CornerDownLeft, History, LoaderCircle, Search, Zap } from 'lucide-react';
import { Dialog } from 'radix-ui';
import { useState } from 'react';
import { useLimits } from '../client/capabilities.ts';
import { useDebounced } from '../client/debounced.ts';
import { useRead } from '../client/queries.ts';
import { recentRecords } from '../client/recent.ts';
import { useScope } from '../client/scope.ts';
import type { SearchHit, SearchResults } from '../generated/shapes.ts';
import { pageOf } from '../parts/anchor.tsx';
import { useReturnFocus } from '../parts/focus.ts';
import { StatusBadge } from '../parts/status-badge.tsx';
import { sentenceCase } from '../parts/text.ts';
import { CommandGroup, CommandItem, CommandNote } from './command-list.tsx';
import { useCommands } from './commands.ts';
import { navigation } from './pages.ts';

// Without a search text the list would be longer than anybody reads.
const commandsWhileBlankMax = 9;

const allPages = navigation.flatMap(([, items]) => items);

const hitPages: Readonly<Record<SearchHit['kind'], (id: string) => string>> = {
  payment: (id) => `payments/${id}`,
  customer: (id) => `customers/${id}`,
  transfer: (id) => `transfers/${id}`,
  refund: (id) => `refunds/${id}`,
  dispute: (id) => `disputes/${id}`,
  webhook: (id) => `webhooks/${id}`,
  event: (id) => `events/${id}`,
  delivery: (id) => `deliveries/${id}`,
  request: (id) => `requests/${id}`,
  api_key: () => 'keys',
};

export interface PaletteProps {
  readonly isOpen: boolean;
  readonly onOpenChange: (isOpen: boolean) => void;
  /** Opens the list of keyboard shortcuts. */
  readonly onShortcuts: () => void;
}

/** Finds pages and actions by name, and records by id, reference, name or email. */
export default function Palette({ isOpen, onOpenChange, onShortcuts }: PaletteProps) {
  const [text, setText] = useState('');
  const query = useDebounced(text.trim(), 180);
  const { searchLengthMax } = useLimits();
  const { data, isLoading } = useRead<SearchResults>(
    'app/search',
    { q: query.slice(0, searchLengthMax) },
    { isEnabled: query.length >= 2 },
  );
  const { orgId } = useScope();
  const navigate = useNavigate();
  const returnFocus = useReturnFocus(isOpen);
  const go = (to: string) => {
    onOpenChange(false);
    void navigate({ to: to === '' ? `/${orgId}` : `/${orgId}/${to}` });
  };
  const isSearching = isLoading || text.trim() !== query;
  const matches = ({ label }: { readonly label: string }) =>
    label.toLowerCase().includes(text.trim().toLowerCase());
  const pages = allPages.filter(matches);
  const isBlank = text.trim() === '';
  const commands = useCommands(onShortcuts)
    .filter(matches)
    .slice(0, isBlank ? commandsWhileBlankMax : undefined);
  const recent = isBlank ? recentRecords(orgId ?? '') : [];
  const hits = query.length >= 2 ? (data?.hits ?? []) : [];
  return (
    <Dialog.Root open={isOpen} onOpenChange={onOpenChange}>
      <Dialog.Portal>
        <Dialog.Overlay className="shade-in fixed inset-0 z-50 bg-shade" />
        <Dialog.Content
          aria-describedby={undefined}
          onCloseAutoFocus={returnFocus}
          className="pop-in fixed inset-x-2 top-2 z-50 overflow-hidden rounded-lg border bg-raised shadow-pop sm:inset-x-auto sm:top-[12vh] sm:left-1/2 sm:w-[36rem] sm:-translate-x-1/2"
        >
          <Dialog.Title className="sr-only">Search and commands</Dialog.Title>
          <Command label="Search and commands" loop shouldFilter={false}>
            <div className="flex items-center gap-2.5 border-b px-4">
              {isLoading ? (
                <LoaderCircle aria-hidden size={16} className="animate-spin text-muted" />
              ) : (
                <Search aria-hidden size={16} className="text-muted" />
              )}
              <Command.Input
                value={text}
                onValueChange={setText}
                placeholder="A page, an action, an id, a reference, a customer…"
                className="h-12 min-w-0 flex-1 bg-transparent text-[1rem] outline-none"
              />
            </div>
            <Command.List aria-label="Results" className="max-h-[min(24rem,60vh)] overflow-y-auto p-1.5">
              {recent.length > 0 ? (
                <CommandGroup heading="Recent">
                  {recent.map(({ id, title }) => (
                    <CommandItem key={id} value={`recent ${id}`} onSelect={() => go(pageOf(id) ?? '')}>
                      <History aria-hidden size={16} className="text-muted" />
                      <span className="min-w-0 flex-1 truncate">{title}</span>
                      <Enter />
                    </CommandItem>
                  ))}
                </CommandGroup>
              ) : null}
              {hits.length > 0 ? (
                <CommandGroup heading="Records">
                  {hits.map((hit) => (
                    <CommandItem key={hit.id} value={hit.id} onSelect={() => go(hitPages[hit.kind](hit.id))}>
                      <span className="w-20 shrink-0 text-xs text-faint">{sentenceCase(hit.kind)}</span>
                      <span className="min-w-0 flex-1">
                        <span className="block truncate">{hit.title}</span>
                        {hit.subtitle ? (
                          <span className="block truncate text-xs text-muted">{hit.subtitle}</span>
                        ) : null}
                      </span>
                      {hit.status ? <StatusBadge status={hit.status} /> : null}
                      <Enter />
                    </CommandItem>
                  ))}
                </CommandGroup>
              ) : null}
              {pages.length > 0 ? (
                <CommandGroup heading="Pages">
                  {pages.map(({ to, label, icon: Icon }) => (
                    <CommandItem key={to} value={`page ${label}`} onSelect={() => go(to)}>
                      <Icon aria-hidden size={16} className="text-muted" />
                      {label}
                      <Enter />
                    </CommandItem>
                  ))}
                </CommandGroup>
              ) : null}
              {commands.length > 0 ? (
                <CommandGroup heading="Actions">
                  {commands.map(({ label, run }) => (
                    <CommandItem
                      key={label}
                      value={`action ${label}`}
                      onSelect={() => {
                        onOpenChange(false);
                        run();
                      }}
                    >
                      <Zap aria-hidden size={16} className="text-muted" />
                      {label}
                      <Enter />
                    </CommandItem>
                  ))}
                </CommandGroup>
              ) : null}
              {hits.length + pages.length + commands.length === 0 ? (
                <CommandNote>{isSearching ? 'Searching…' : 'No results.'}</CommandNote>
              ) : null}
            </Command.List>
          </Command>
        </Dialog.Content>
      </Dialog.Portal>
    </Dialog.Root>
  );
}

function Enter() {
  return (
    <CornerDownLeft
      aria-hidden
      size={14}
      className="ml-auto hidden text-faint group-data-[selected=true]:block"
    />
  );
}
