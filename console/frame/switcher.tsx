import { useNavigate } from '@tanstack/react-router';
import { Command } from 'cmdk';
import { Building2, Check, Plus, Search, Settings2 } from 'lucide-react';
import { useEffect, useRef, useState } from 'react';
import { useScope } from '../client/scope.ts';
import type { Application } from '../generated/shapes.ts';
import { ApplicationDot } from './application-dot.tsx';
import { CommandGroup, CommandItem, CommandNote } from './command-list.tsx';
import { useAllowed, useSession } from './session.tsx';

export interface SwitcherProps {
  readonly applications: readonly Application[];
  readonly selected: Application | undefined;
  readonly onClose: () => void;
}

/** Applications and organizations, found by a part of the name. */
export default function Switcher({ applications, selected, onClose }: SwitcherProps) {
  const [text, setText] = useState('');
  const { organizations } = useSession();
  const mayCreate = useAllowed('developer');
  const { orgId } = useScope();
  const navigate = useNavigate();
  const input = useRef<HTMLInputElement>(null);
  // The popover has moved the focus before this part was loaded.
  useEffect(() => input.current?.focus(), []);
  const matches = ({ name }: { readonly name: string }) =>
    name.toLowerCase().includes(text.trim().toLowerCase());
  const foundApplications = applications
    .filter(({ status, id }) => status === 'active' || id === selected?.id)
    .filter(matches);
  const foundOrganizations = organizations.filter(matches);
  const go = (to: string, search: Readonly<Record<string, string | undefined>> = {}) => {
    onClose();
    void navigate({ to, search: search as never });
  };
  return (
    <Command label="Applications and organizations" loop shouldFilter={false} className="-m-4">
      <div className="flex items-center gap-2 border-b px-3">
        <Search aria-hidden size={15} className="text-muted" />
        <Command.Input
          ref={input}
          value={text}
          onValueChange={setText}
          placeholder="Find an application or organization"
          className="h-10 min-w-0 flex-1 bg-transparent outline-none"
        />
      </div>
      <Command.List aria-label="Results" className="max-h-[min(20rem,50vh)] overflow-y-auto p-1">
        {foundApplications.length === 0 ? null : (
          <CommandGroup heading="Application">
            {foundApplications.map(({ id, name, status }) => (
              <CommandItem
                key={id}
                value={id}
                // The open page may belong to the previous application, for example its keys: go to the overview.
                onSelect={() => go(`/${orgId}`, { app: id })}
              >
                <ApplicationDot id={id} />
                <span className="min-w-0 flex-1 truncate">
                  {status === 'archived' ? `${name} (archived)` : name}
                </span>
                {id === selected?.id ? <Current /> : null}
              </CommandItem>
            ))}
          </CommandGroup>
        )}
        {foundOrganizations.length === 0 ? null : (
          <CommandGroup heading="Organization">
            {foundOrganizations.map(({ id, name }) => (
              <CommandItem key={id} value={id} onSelect={() => go(`/${id}`, { app: undefined })}>
                <span className="min-w-0 flex-1 truncate">{name}</span>
                {id === orgId ? <Current /> : null}
              </CommandItem>
            ))}
          </CommandGroup>
        )}
        {text.trim() === '' ? (
          <CommandGroup heading="Manage">
            {mayCreate ? (
              <CommandItem
                value="new application"
                onSelect={() => go(`/${orgId}/applications`, { create: '1' })}
              >
                <Plus aria-hidden size={15} />
                New application
              </CommandItem>
            ) : null}
            <CommandItem value="settings" onSelect={() => go(`/${orgId}/organization`)}>
              <Settings2 aria-hidden size={15} />
              Organization settings
            </CommandItem>
            <CommandItem value="new organization" onSelect={() => go('/welcome', { new: '1' })}>
              <Building2 aria-hidden size={15} />
              New organization
            </CommandItem>
          </CommandGroup>
        ) : null}
        {text.trim() !== '' && foundApplications.length + foundOrganizations.length === 0 ? (
          <CommandNote>No results.</CommandNote>
        ) : null}
      </Command.List>
    </Command>
  );
}

function Current() {
  return (
    <>
      <Check aria-hidden size={15} className="text-accent" />
      <span className="sr-only">current</span>
    </>
  );
}
