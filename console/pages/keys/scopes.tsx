import { useCapabilities } from '../../client/currencies.ts';
import type { ApiKey } from '../../client/shapes.ts';
import { Checkbox, Field, Select } from '../../parts/field.tsx';

const sentences: Readonly<Record<string, string>> = {
  'payments:read': 'See payments, refunds, disputes, the ledger and settlements.',
  'payments:write': 'Make and move payments, refunds and disputes.',
  'customers:read': 'See customers.',
  'customers:write': 'Make, change and archive customers.',
  'transfers:read': 'See transfers and exchange rates.',
  'transfers:write': 'Quote, accept, fund and cancel transfers.',
  'webhooks:read': 'See webhooks, events and deliveries.',
  'webhooks:write': 'Make and change webhooks, test them and replay events.',
};
const known = Object.keys(sentences);

const presets: readonly {
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

export const fullAccess: readonly string[] = known;

function presetOf(scopes: readonly string[], all: readonly string[]) {
  return presets.find(({ has }) => all.every((scope) => has(scope) === scopes.includes(scope)));
}

/** 'Full access', or 'payments, customers:read': a resource alone means both of its scopes. */
export function scopeWords(scopes: readonly string[]): string {
  const preset = presetOf(scopes, known);
  if (preset?.value === 'full' || preset?.value === 'read') return preset.label;
  const resources = [...new Set(scopes.map((scope) => scope.split(':')[0] ?? scope))];
  const words = resources.map((resource) => {
    const own = scopes.filter((scope) => scope.startsWith(`${resource}:`));
    return own.length === 1 ? own[0] : resource;
  });
  return words.join(', ');
}

export function ScopeWords({ scopes }: Pick<ApiKey, 'scopes'>) {
  return <span title={scopes.join('\n')}>{scopeWords(scopes)}</span>;
}

export interface ScopesFieldProps {
  readonly scopes: readonly string[];
  readonly onChange: (scopes: readonly string[]) => void;
  readonly error?: string | undefined;
}

/** A preset sets the boxes; a box that is touched afterwards makes it a custom choice. */
export function ScopesField({ scopes, onChange, error }: ScopesFieldProps) {
  const all = useCapabilities()?.scopes ?? known;
  const choose = (value: string) => {
    const preset = presets.find((one) => one.value === value);
    // Custom starts from nothing, so that a key gets no more than was meant.
    onChange(preset === undefined ? [] : all.filter(preset.has));
  };
  const turn = (scope: string, isOn: boolean) =>
    onChange(all.filter((one) => (one === scope ? isOn : scopes.includes(one))));
  return (
    <div className="flex flex-col gap-3">
      <Field label="Access" error={error}>
        <Select
          value={presetOf(scopes, all)?.value ?? 'custom'}
          options={[...presets, { value: 'custom', label: 'Custom' }]}
          onChange={(event) => choose(event.currentTarget.value)}
        />
      </Field>
      <fieldset className="rounded-md border px-3.5 py-3">
        <legend className="sr-only">Scopes</legend>
        <div className="grid gap-x-6 gap-y-2.5 sm:grid-cols-2">
          {all.map((scope) => (
            <Checkbox
              key={scope}
              label={<code className="font-mono text-sm">{scope}</code>}
              hint={sentences[scope]}
              isOn={scopes.includes(scope)}
              onChange={(isOn) => turn(scope, isOn)}
            />
          ))}
        </div>
        <p className="mt-3 border-t pt-2.5 text-sm text-muted">
          Moving the clock takes both <code className="font-mono">payments:write</code> and{' '}
          <code className="font-mono">transfers:write</code>.
        </p>
      </fieldset>
    </div>
  );
}
