import { useNavigate } from '@tanstack/react-router';
import { Command } from 'cmdk';
import { Building2, Check, Plus, Search, Settings2 } from 'lucide-react';
import { type ReactNode, useEffect, useRef, useState } from 'react';
import { useScope } from '../client/scope.ts';
import type { Application } from '../generated/shapes.ts';
import { ApplicationDot } from './application-dot.tsx';
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
          <Group heading="Application">
            {foundApplications.map(({ id, name, status }) => (
              <Item
                key={id}
                value={id}
                isCurrent={id === selected?.id}
                // The open page may belong to the previous application, for example its keys: go to the overview.
                onSelect={() => go(`/${orgId}`, { app: id })}
              >
                <ApplicationDot id={id} />
                <span className="min-w-0 flex-1 truncate">
                  {status === 'archived' ? `${name} (archived)` : name}
                </span>
              </Item>
            ))}
          </Group>
        )}
        {foundOrganizations.length === 0 ? null : (
          <Group heading="Organization">
            {foundOrganizations.map(({ id, name }) => (
              <Item
                key={id}
                value={id}
                isCurrent={id === orgId}
                onSelect={() => go(`/${id}`, { app: undefined })}
              >
                <span className="min-w-0 flex-1 truncate">{name}</span>
              </Item>
            ))}
          </Group>
        )}
        {text.trim() === '' ? (
          <Group heading="Manage">
            {mayCreate ? (
              <Item value="new application" onSelect={() => go(`/${orgId}/applications`, { create: '1' })}>
                <Plus aria-hidden size={15} />
                New application
              </Item>
            ) : null}
            <Item value="settings" onSelect={() => go(`/${orgId}/organization`)}>
              <Settings2 aria-hidden size={15} />
              Organization settings
            </Item>
            <Item value="new organization" onSelect={() => go('/welcome', { new: '1' })}>
              <Building2 aria-hidden size={15} />
              New organization
            </Item>
          </Group>
        ) : null}
        {text.trim() !== '' && foundApplications.length + foundOrganizations.length === 0 ? (
          <Command.Item disabled value="nothing" className="px-3 py-6 text-center text-muted">
            No results.
          </Command.Item>
        ) : null}
      </Command.List>
    </Command>
  );
}

function Group({ heading, children }: { readonly heading: string; readonly children: ReactNode }) {
  return (
    <Command.Group
      heading={heading}
      className="[&_[cmdk-group-heading]]:px-2.5 [&_[cmdk-group-heading]]:pt-1.5 [&_[cmdk-group-heading]]:pb-1 [&_[cmdk-group-heading]]:text-xs [&_[cmdk-group-heading]]:font-medium [&_[cmdk-group-heading]]:text-faint"
    >
      {children}
    </Command.Group>
  );
}

interface ItemProps {
  readonly value: string;
  readonly isCurrent?: boolean;
  readonly onSelect: () => void;
  readonly children: ReactNode;
}

function Item({ value, isCurrent = false, onSelect, children }: ItemProps) {
  return (
    <Command.Item
      value={value}
      onSelect={onSelect}
      className="flex min-h-8 cursor-pointer items-center gap-2.5 rounded-sm px-2.5 py-1 data-[selected=true]:bg-hover"
    >
      {children}
      {isCurrent ? (
        <>
          <Check aria-hidden size={15} className="text-accent" />
          <span className="sr-only">current</span>
        </>
      ) : null}
    </Command.Item>
  );
}
