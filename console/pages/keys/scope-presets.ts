import type { Scope } from '../../generated/shapes.ts';
import { valuesOf } from '../../parts/options.ts';

export const scopeDescriptions: Readonly<Record<Scope, string>> = {
  'payments:read': 'View payments, refunds, disputes, the ledger and settlements.',
  'payments:write': 'Create and advance payments, refunds and disputes.',
  'customers:read': 'View customers.',
  'customers:write': 'Create, change and archive customers.',
  'transfers:read': 'View transfers and exchange rates.',
  'transfers:write': 'Quote, accept, fund and cancel transfers.',
  'webhooks:read': 'View webhooks, events and deliveries.',
  'webhooks:write': 'Create and change webhooks, test them and replay events.',
};
export const knownScopes = valuesOf(scopeDescriptions);

export const presets: readonly {
  readonly value: string;
  readonly label: string;
  readonly has: (scope: string) => boolean;
}[] = [
  { value: 'full', label: 'Full access', has: () => true },
  { value: 'read', label: 'Read only', has: (scope) => scope.endsWith(':read') },
  { value: 'payments', label: 'Payments', has: (scope) => /^(payments|customers):/.test(scope) },
  { value: 'transfers', label: 'Transfers', has: (scope) => scope.startsWith('transfers:') },
  { value: 'webhooks', label: 'Webhooks only', has: (scope) => scope.startsWith('webhooks:') },
];

export function presetOf(scopes: readonly string[], all: readonly string[]) {
  return presets.find(({ has }) => all.every((scope) => has(scope) === scopes.includes(scope)));
}

/** 'Full access', or 'payments, customers:read': a resource without a suffix has both of its scopes. */
export function describeScopes(scopes: readonly string[]): string {
  const preset = presetOf(scopes, knownScopes);
  if (preset?.value === 'full' || preset?.value === 'read') return preset.label;
  const resources = [...new Set(scopes.map((scope) => scope.split(':')[0] ?? scope))];
  const parts = resources.map((resource) => {
    const own = scopes.filter((scope) => scope.startsWith(`${resource}:`));
    return own.length === 1 ? own[0] : resource;
  });
  return parts.join(', ');
}

/** The scopes that a preset selects; a custom choice starts empty, so that a key gets no scope by accident. */
export function scopesOfPreset(value: string, all: readonly string[]): readonly string[] {
  const preset = presets.find((one) => one.value === value);
  return preset === undefined ? [] : all.filter(preset.has);
}

/** The selection after one scope is switched on or off, in the server's order. */
export function withScope(
  scopes: readonly string[],
  all: readonly string[],
  scope: string,
  isOn: boolean,
): readonly string[] {
  return all.filter((one) => (one === scope ? isOn : scopes.includes(one)));
}
