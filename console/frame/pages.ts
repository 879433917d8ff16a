import {
  Activity,
  ArrowLeftRight,
  BookOpen,
  Boxes,
  Bug,
  Building2,
  CreditCard,
  FileClock,
  KeyRound,
  LayoutDashboard,
  ListChecks,
  type LucideIcon,
  Rocket,
  Scale,
  ScrollText,
  ShieldAlert,
  Undo2,
  UserRound,
  Users,
  Webhook,
} from 'lucide-react';

export interface NavigationItem {
  /** Path inside the organization; '' is the overview. */
  readonly to: string;
  /** After `g` it goes to the page. */
  readonly key: string;
  readonly label: string;
  readonly icon: LucideIcon;
  /** Works without an application. */
  readonly isOrganizational?: true;
  /** Shows only what belongs to the selected application; the other pages show the whole organization. */
  readonly isOfApplication?: true;
  /** Other paths that highlight this item. */
  readonly also?: readonly string[];
}

/** The pages in the sidebar and the palette, in the sidebar's groups. */
export const navigation: readonly (readonly [group: string, items: readonly NavigationItem[]])[] = [
  [
    'Home',
    [
      { to: '', key: 'o', label: 'Overview', icon: LayoutDashboard },
      { to: 'start', key: 's', label: 'Quick start', icon: Rocket, isOfApplication: true },
    ],
  ],
  [
    'Money',
    [
      { to: 'payments', key: 'p', label: 'Payments', icon: CreditCard },
      { to: 'refunds', key: 'r', label: 'Refunds', icon: Undo2 },
      { to: 'disputes', key: 'd', label: 'Disputes', icon: ShieldAlert },
      { to: 'customers', key: 'c', label: 'Customers', icon: Users },
      { to: 'transfers', key: 't', label: 'Transfers', icon: ArrowLeftRight },
    ],
  ],
  [
    'Accounting',
    [
      { to: 'ledger', key: 'l', label: 'Ledger', icon: BookOpen },
      { to: 'reconciliation', key: 'b', label: 'Reconciliation', icon: Scale },
    ],
  ],
  [
    'Developers',
    [
      { to: 'webhooks', key: 'w', label: 'Webhooks', icon: Webhook, also: ['deliveries'] },
      { to: 'events', key: 'e', label: 'Events', icon: Activity },
      { to: 'requests', key: 'q', label: 'Requests', icon: ScrollText },
      { to: 'faults', key: 'f', label: 'Faults', icon: Bug, isOfApplication: true },
      { to: 'coverage', key: 'v', label: 'Coverage', icon: ListChecks },
      { to: 'audit', key: 'a', label: 'Audit', icon: FileClock, isOrganizational: true },
    ],
  ],
  [
    'Settings',
    [
      { to: 'keys', key: 'k', label: 'API keys', icon: KeyRound, isOfApplication: true },
      { to: 'applications', key: 'x', label: 'Applications', icon: Boxes, isOrganizational: true },
      { to: 'members', key: 'm', label: 'Members', icon: UserRound, isOrganizational: true },
      { to: 'organization', key: 'z', label: 'Organization', icon: Building2, isOrganizational: true },
    ],
  ],
];

const organizational = new Set(
  navigation.flatMap(([, items]) =>
    items.filter((item) => item.isOrganizational).flatMap((item) => [item.to, ...(item.also ?? [])]),
  ),
);

/** Whether the page at /console/{orgId}/{section} works without an application. */
export function isOrganizational(section: string): boolean {
  return organizational.has(section);
}

const ofApplication = new Set(
  navigation.flatMap(([, items]) => items.filter((item) => item.isOfApplication).map(({ to }) => to)),
);

/** Whether the page at /console/{orgId}/{section} shows only what belongs to the selected application. */
export function isOfApplication(section: string): boolean {
  return ofApplication.has(section);
}

export interface Creation {
  readonly label: string;
  /** The page whose `?create=1` opens the form. */
  readonly page: string;
  readonly role: 'developer' | 'admin';
}

/** The forms that the palette and the key `n` open; on a page without one, `n` creates a payment. */
export const creations: readonly [Creation, ...Creation[]] = [
  { label: 'Create payment', page: 'payments', role: 'developer' },
  { label: 'Create customer', page: 'customers', role: 'developer' },
  { label: 'Create transfer', page: 'transfers', role: 'developer' },
  { label: 'Create webhook', page: 'webhooks', role: 'developer' },
  { label: 'Create event', page: 'events', role: 'developer' },
  { label: 'Create fault', page: 'faults', role: 'developer' },
  { label: 'Create API key', page: 'keys', role: 'developer' },
  { label: 'Create application', page: 'applications', role: 'developer' },
  { label: 'Invite member', page: 'members', role: 'admin' },
];
