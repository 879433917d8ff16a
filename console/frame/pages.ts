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
      { to: '', label: 'Overview', icon: LayoutDashboard },
      { to: 'start', label: 'Quick start', icon: Rocket, isOfApplication: true },
    ],
  ],
  [
    'Money',
    [
      { to: 'payments', label: 'Payments', icon: CreditCard },
      { to: 'refunds', label: 'Refunds', icon: Undo2 },
      { to: 'disputes', label: 'Disputes', icon: ShieldAlert },
      { to: 'customers', label: 'Customers', icon: Users },
      { to: 'transfers', label: 'Transfers', icon: ArrowLeftRight },
    ],
  ],
  [
    'Accounting',
    [
      { to: 'ledger', label: 'Ledger', icon: BookOpen },
      { to: 'reconciliation', label: 'Reconciliation', icon: Scale },
    ],
  ],
  [
    'Developers',
    [
      { to: 'webhooks', label: 'Webhooks', icon: Webhook, also: ['deliveries'] },
      { to: 'events', label: 'Events', icon: Activity },
      { to: 'requests', label: 'Requests', icon: ScrollText },
      { to: 'faults', label: 'Faults', icon: Bug, isOfApplication: true },
      { to: 'coverage', label: 'Coverage', icon: ListChecks },
      { to: 'audit', label: 'Audit', icon: FileClock, isOrganizational: true },
    ],
  ],
  [
    'Settings',
    [
      { to: 'keys', label: 'API keys', icon: KeyRound, isOfApplication: true },
      { to: 'applications', label: 'Applications', icon: Boxes, isOrganizational: true },
      { to: 'members', label: 'Members', icon: UserRound, isOrganizational: true },
      { to: 'organization', label: 'Organization', icon: Building2, isOrganizational: true },
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
