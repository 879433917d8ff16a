import { useCapabilities } from '../../client/capabilities.ts';
import type { ListedApiKey } from '../../generated/shapes.ts';
import { Checkbox, Field, Select } from '../../parts/field.tsx';
import { Prose } from '../../parts/prose.tsx';
import {
  describeScopes,
  knownScopes,
  presetOf,
  presets,
  scopeDescriptions,
  scopesOfPreset,
  withScope,
} from './scope-presets.ts';

export function ScopeSummary({ scopes }: Pick<ListedApiKey, 'scopes'>) {
  return <span title={scopes.join('\n')}>{describeScopes(scopes)}</span>;
}

export interface ScopesFieldProps {
  readonly scopes: readonly string[];
  readonly onChange: (scopes: readonly string[]) => void;
  /** Why the form cannot be submitted; shown from the first submit on. */
  readonly missing?: string | undefined;
}

/** A preset selects the checkboxes; changing a checkbox afterwards makes it a custom selection. */
export function ScopesField({ scopes, onChange, missing }: ScopesFieldProps) {
  const capabilities = useCapabilities();
  const all = capabilities?.scopes ?? knownScopes;
  const clockScopes = capabilities?.operationScopes.advanceClock ?? [];
  const selectPreset = (value: string) => onChange(scopesOfPreset(value, all));
  const toggle = (scope: string, isOn: boolean) => onChange(withScope(scopes, all, scope, isOn));
  return (
    <div className="flex flex-col gap-3">
      <Field label="Access" param="scopes" missing={missing}>
        <Select
          value={presetOf(scopes, all)?.value ?? 'custom'}
          options={[...presets, { value: 'custom', label: 'Custom' }]}
          onChange={(event) => selectPreset(event.currentTarget.value)}
        />
      </Field>
      <fieldset className="rounded-md border px-3.5 py-3">
        <legend className="sr-only">Scopes</legend>
        <div className="grid gap-x-6 gap-y-2.5 sm:grid-cols-2">
          {all.map((scope) => (
            <Checkbox
              key={scope}
              label={<code className="font-mono text-sm">{scope}</code>}
              hint={scopeDescriptions[scope]}
              isOn={scopes.includes(scope)}
              onChange={(isOn) => toggle(scope, isOn)}
            />
          ))}
        </div>
        {clockScopes.length === 0 ? null : (
          <p className="mt-3 border-t pt-2.5 text-sm text-muted">
            <Prose
              text={`Advancing the clock requires ${clockScopes.map((scope) => `\`${scope}\``).join(' and ')}.`}
            />
          </p>
        )}
      </fieldset>
    </div>
  );
}
