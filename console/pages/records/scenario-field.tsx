import { ChevronDown, Plus, X } from 'lucide-react';
import { useId } from 'react';
import { useCapabilities, useLimits } from '../../client/capabilities.ts';
import { Button, IconButton } from '../../parts/button.tsx';
import { FieldProblem } from '../../parts/field.tsx';
import { type ScenarioResource, scenarioDescription, scenarioGroups } from './scenario-groups.ts';

export interface ScenarioFieldProps {
  readonly resource: ScenarioResource;
  /** One scenario per attempt; the last one applies to all later attempts. */
  readonly steps: readonly string[];
  readonly onChange: (steps: readonly string[]) => void;
}

/** The `scenario` value for the API: a name, or a list for successive attempts. */
export function scenarioOf(steps: readonly string[]): string | readonly string[] {
  return steps.length === 1 ? (steps[0] ?? 'approve') : steps;
}

/** Selects what the simulated provider does, with the description of each scenario below it. */
export function ScenarioField({ resource, steps, onChange }: ScenarioFieldProps) {
  const { scenarioListMax } = useLimits();
  const attemptLabel = resource === 'payment' ? 'attempt' : 'send attempt';
  const change = (index: number, name: string) =>
    onChange(steps.map((step, at) => (at === index ? name : step)));
  return (
    <fieldset className="flex flex-col gap-2">
      <legend className="mb-1 text-sm font-medium">Scenario</legend>
      {steps.map((step, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: a step is identified by its position
        <div key={index} className="flex items-start gap-2">
          <Step
            resource={resource}
            label={steps.length === 1 ? 'Scenario' : `Scenario for ${attemptLabel} ${index + 1}`}
            prefix={steps.length === 1 ? undefined : `${index + 1}.`}
            step={step}
            onChange={(name) => change(index, name)}
          />
          {steps.length > 1 ? (
            <IconButton
              label={`Remove ${attemptLabel} ${index + 1}`}
              icon={<X aria-hidden size={15} />}
              onClick={() => onChange(steps.filter((_, at) => at !== index))}
            />
          ) : null}
        </div>
      ))}
      <FieldProblem param="scenario" label="Scenario" />
      {scenarioListMax === undefined || steps.length < scenarioListMax ? (
        <div className="flex flex-wrap items-center gap-x-3 gap-y-1">
          <Button
            size="small"
            icon={<Plus aria-hidden size={14} />}
            onClick={() => onChange([...steps, 'approve'])}
          >
            Add {attemptLabel}
          </Button>
          {steps.length > 1 ? (
            <span className="text-sm text-muted">The last one applies to all later attempts.</span>
          ) : null}
        </div>
      ) : null}
    </fieldset>
  );
}

interface StepProps {
  readonly resource: ScenarioResource;
  readonly label: string;
  readonly prefix: string | undefined;
  readonly step: string;
  readonly onChange: (name: string) => void;
}

function Step({ resource, label, prefix, step, onChange }: StepProps) {
  const known = useCapabilities();
  const id = useId();
  const names = (resource === 'payment' ? known?.scenarios : known?.transferScenarios) ?? [step];
  const description = known && scenarioDescription(resource, step, known);
  return (
    <div className="min-w-0 flex-1">
      <div className="relative flex items-center gap-2">
        {prefix === undefined ? null : (
          <span aria-hidden className="w-4 text-sm text-muted tabular-nums">
            {prefix}
          </span>
        )}
        <select
          aria-label={label}
          aria-describedby={id}
          value={step}
          onChange={(event) => onChange(event.currentTarget.value)}
          className="control min-w-0 flex-1 appearance-none truncate pr-8"
        >
          {scenarioGroups(names).map(([group, inside]) => (
            <optgroup key={group} label={group}>
              {inside.map((name) => (
                <option key={name} value={name}>
                  {name}
                </option>
              ))}
            </optgroup>
          ))}
        </select>
        <ChevronDown
          aria-hidden
          size={15}
          className="pointer-events-none absolute inset-y-0 right-2.5 my-auto text-muted"
        />
      </div>
      <p id={id} className="mt-1 text-sm text-muted">
        {description}
      </p>
    </div>
  );
}
