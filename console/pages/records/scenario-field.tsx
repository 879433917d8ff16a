import { ChevronDown, Plus, X } from 'lucide-react';
import { useId } from 'react';
import { useCapabilities } from '../../client/currencies.ts';
import type { ApiProblem } from '../../client/request.ts';
import { Button, IconButton } from '../../parts/button.tsx';
import { isAbout } from '../../parts/field.tsx';
import { type Played, scenarioGroups, scenarioWords } from './scenarios.ts';

export interface ScenarioFieldProps {
  readonly played: Played;
  /** One for each attempt; the last holds for all that follow. */
  readonly steps: readonly string[];
  readonly onChange: (steps: readonly string[]) => void;
  readonly problem: ApiProblem | null;
}

const stepsMax = 10;

/** As the API wants it: a bare name, or a list for successive attempts. */
export function scenarioOf(steps: readonly string[]): string | readonly string[] {
  return steps.length === 1 ? (steps[0] ?? 'approve') : steps;
}

/** What the simulated provider will do, with the words of each choice below it. */
export function ScenarioField({ played, steps, onChange, problem }: ScenarioFieldProps) {
  const again = played === 'payment' ? 'attempt' : 'sending';
  const change = (index: number, name: string) =>
    onChange(steps.map((step, at) => (at === index ? name : step)));
  return (
    <fieldset className="flex flex-col gap-2">
      <legend className="mb-1 text-sm font-medium">Scenario</legend>
      {steps.map((step, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: the place is what a step is
        <div key={index} className="flex items-start gap-2">
          <Step
            played={played}
            label={steps.length === 1 ? 'Scenario' : `Scenario of ${again} ${index + 1}`}
            prefix={steps.length === 1 ? undefined : `${index + 1}.`}
            step={step}
            onChange={(name) => change(index, name)}
          />
          {steps.length > 1 ? (
            <IconButton
              label={`Remove ${again} ${index + 1}`}
              icon={<X aria-hidden size={15} />}
              onClick={() => onChange(steps.filter((_, at) => at !== index))}
            />
          ) : null}
        </div>
      ))}
      {isAbout(problem, 'scenario') ? <p className="text-sm text-bad">{problem?.message}</p> : null}
      {steps.length < stepsMax ? (
        <div className="flex flex-wrap items-center gap-x-3 gap-y-1">
          <Button
            size="small"
            icon={<Plus aria-hidden size={14} />}
            onClick={() => onChange([...steps, 'approve'])}
          >
            Add {again}
          </Button>
          {steps.length > 1 ? (
            <span className="text-sm text-muted">The last one holds for all that follow.</span>
          ) : null}
        </div>
      ) : null}
    </fieldset>
  );
}

interface StepProps {
  readonly played: Played;
  readonly label: string;
  readonly prefix: string | undefined;
  readonly step: string;
  readonly onChange: (name: string) => void;
}

function Step({ played, label, prefix, step, onChange }: StepProps) {
  const known = useCapabilities();
  const id = useId();
  const names = (played === 'payment' ? known?.scenarios : known?.transferScenarios) ?? [step];
  const words = known && scenarioWords(played, step, known);
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
        {words}
      </p>
    </div>
  );
}
