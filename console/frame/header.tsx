import { useLocation, useNavigate } from '@tanstack/react-router';
import {
  ChevronRight,
  ChevronsUpDown,
  LogOut,
  Menu as MenuIcon,
  Monitor,
  Moon,
  Search,
  Sun,
  UserRound,
} from 'lucide-react';
import { Suspense, useState } from 'react';
import { useScope } from '../client/scope.ts';
import { localZoneName, setZone, useZone } from '../client/zone.ts';
import type { Application } from '../generated/shapes.ts';
import { IconButton } from '../parts/button.tsx';
import { lazyPart } from '../parts/lazy-part.ts';
import { Menu, MenuItem, MenuLabel, MenuRadioGroup, MenuSeparator } from '../parts/menu.tsx';
import { Popover } from '../parts/popover.tsx';
import { classes } from '../parts/text.ts';
import { ApplicationDot } from './application-dot.tsx';
import { ClockControl } from './clock.tsx';
import { LiveControl } from './live-control.tsx';
import { isOfApplication } from './pages.ts';
import { signOut, usePerson, useSession } from './session.tsx';
import { setTheme, type ThemeChoice, useTheme } from './theme.ts';

const Switcher = lazyPart(() => import('./switcher.tsx'));

export interface HeaderProps {
  readonly applications: readonly Application[];
  readonly selected: Application | undefined;
  readonly onDrawer: () => void;
  readonly onSearch: () => void;
}

/** Organization and application switcher, clock, search, theme and account. */
export function Header({ applications, selected, onDrawer, onSearch }: HeaderProps) {
  return (
    <header className="sticky top-0 z-30 flex h-14 items-center gap-1 border-b bg-ground/95 px-2 backdrop-blur sm:gap-2 sm:px-4">
      <IconButton
        label="Open menu"
        icon={<MenuIcon aria-hidden size={19} />}
        onClick={onDrawer}
        className="lg:hidden"
      />
      <SwitcherControl applications={applications} selected={selected} />
      <span
        className="rounded-sm bg-warn-soft px-1.5 py-0.5 text-xs font-semibold text-warn max-sm:hidden"
        title="No real money moves here"
      >
        Sandbox
      </span>
      <div className="ml-auto flex shrink-0 items-center gap-1 sm:gap-2">
        <button
          type="button"
          onClick={onSearch}
          className="hidden h-[2.125rem] w-52 items-center gap-2 rounded-md border border-line-strong/60 bg-surface px-2.5 text-muted hover:border-line-strong xl:flex"
        >
          <Search aria-hidden size={15} />
          <span className="flex-1 text-left">Search</span>
          <kbd className="rounded-sm border px-1 font-sans text-xs text-faint">
            {isApple ? '⌘K' : 'Ctrl K'}
          </kbd>
        </button>
        <IconButton
          label="Search"
          icon={<Search aria-hidden size={17} />}
          onClick={onSearch}
          className="xl:hidden"
        />
        {selected === undefined ? null : <LiveControl />}
        {selected === undefined ? null : <ClockControl />}
        <ThemeSwitch className="max-xl:hidden" />
        <AccountMenu />
      </div>
    </header>
  );
}

const isApple = /Mac|iPhone|iPad/.test(navigator.platform);

function SwitcherControl({ applications, selected }: Pick<HeaderProps, 'applications' | 'selected'>) {
  const { organizations } = useSession();
  const { orgId } = useScope();
  const [isOpen, setOpen] = useState(false);
  const organization = organizations.find(({ id }) => id === orgId);
  const section = useLocation({ select: ({ pathname }) => pathname.split('/').filter(Boolean)[1] ?? '' });
  const isWide = selected !== undefined && !isOfApplication(section);
  return (
    <Popover
      align="start"
      label="Organization and application"
      isOpen={isOpen}
      onOpenChange={setOpen}
      trigger={
        <button
          type="button"
          className="flex h-10 min-w-0 items-center gap-1.5 rounded-md px-2 text-left hover:bg-hover"
          {...(isWide ? { title: wideTitle(selected?.name) } : {})}
        >
          {/* On a phone the application is above the organization, and the label beside it is below. */}
          <span className="flex min-w-0 items-center gap-1 max-sm:flex-col-reverse max-sm:items-start max-sm:gap-0 max-sm:leading-tight">
            <span className="sr-only">Organization and application: </span>
            <span className="flex max-w-full min-w-0 gap-1 font-medium max-sm:text-xs max-sm:font-normal max-sm:text-muted">
              <span className="max-w-40 min-w-0 truncate">{organization?.name}</span>
              <span className="font-semibold text-warn sm:hidden">Sandbox</span>
            </span>
            <ChevronRight aria-hidden size={14} className="shrink-0 text-faint max-sm:hidden" />
            {selected === undefined ? null : (
              <ApplicationDot id={selected.id} className="mx-0.5 max-sm:hidden" />
            )}
            <span
              className={classes(
                'max-w-40 min-w-0 truncate max-sm:max-w-full',
                isWide ? 'text-faint' : 'font-medium',
              )}
            >
              {selected?.name ?? 'No application'}
            </span>
          </span>
          <ChevronsUpDown aria-hidden size={14} className="shrink-0 text-faint max-sm:hidden" />
        </button>
      }
    >
      <Suspense fallback={<div className="h-40" />}>
        <Switcher applications={applications} selected={selected} onClose={() => setOpen(false)} />
      </Suspense>
    </Popover>
  );
}

/** On pages of the whole organization, what the selected application is for. */
function wideTitle(name: string | undefined): string {
  return `This page shows all applications. ${name} is used for the clock and for what you create.`;
}

const themes: readonly { readonly value: ThemeChoice; readonly label: string }[] = [
  { value: 'system', label: 'System' },
  { value: 'light', label: 'Light' },
  { value: 'dark', label: 'Dark' },
];

function isTheme(value: string): value is ThemeChoice {
  return themes.some((theme) => theme.value === value);
}

/** Hidden where the header is narrow: there the account menu contains the theme. */
export function ThemeSwitch({ className = '' }: { readonly className?: string }) {
  const theme = useTheme();
  const Icon = theme === 'dark' ? Moon : theme === 'light' ? Sun : Monitor;
  return (
    <Menu trigger={<IconButton label="Theme" icon={<Icon aria-hidden size={17} />} className={className} />}>
      <MenuRadioGroup
        label="Theme"
        value={theme}
        options={themes}
        onChange={(value) => isTheme(value) && setTheme(value)}
      />
    </Menu>
  );
}

function AccountMenu() {
  const person = usePerson();
  const zone = useZone();
  const theme = useTheme();
  const navigate = useNavigate();
  return (
    <Menu
      trigger={
        <IconButton
          label={`${initials(person.name)}: account of ${person.name}`}
          icon={<Initials name={person.name} />}
        />
      }
    >
      <MenuLabel>
        <span className="block truncate text-base text-ink">{person.name}</span>
        <span className="block truncate font-normal">{person.email}</span>
      </MenuLabel>
      <MenuSeparator />
      <MenuItem icon={<UserRound aria-hidden size={15} />} onSelect={() => void navigate({ to: '/account' })}>
        Account
      </MenuItem>
      <div className="xl:hidden">
        <MenuSeparator />
        <MenuRadioGroup
          label="Theme"
          value={theme}
          options={themes}
          onChange={(value) => isTheme(value) && setTheme(value)}
        />
      </div>
      {localZoneName === 'UTC' ? null : (
        <>
          <MenuSeparator />
          <MenuRadioGroup
            label="Time zone"
            value={zone}
            options={[
              { value: 'utc', label: 'UTC' },
              { value: 'local', label: localZoneName },
            ]}
            onChange={(value) => setZone(value === 'local' ? 'local' : 'utc')}
          />
        </>
      )}
      <MenuSeparator />
      <MenuItem icon={<LogOut aria-hidden size={15} />} onSelect={() => void signOut()}>
        Sign out
      </MenuItem>
    </Menu>
  );
}

function initials(name: string): string {
  const names = name.trim().split(/\s+/).slice(0, 2);
  return names.map((part) => part.charAt(0).toUpperCase()).join('');
}

function Initials({ name }: { readonly name: string }) {
  return (
    <span
      aria-hidden
      className="flex size-7 items-center justify-center rounded-full bg-accent text-xs font-semibold text-on-accent"
    >
      {initials(name)}
    </span>
  );
}
