import { Search } from 'lucide-react';
import { useId, useState } from 'react';
import { useCapabilities } from '../../client/capabilities.ts';
import { Checkbox } from '../../parts/field.tsx';
import { useMissing } from '../../parts/form.tsx';
import { useFieldProblem } from '../../parts/form-problem.tsx';
import { Prose } from '../../parts/prose.tsx';
import { Skeleton } from '../../parts/skeleton.tsx';
import { pluralize } from '../../parts/text.ts';
import { RadioCards } from '../radio-cards.tsx';
import { matchingTypes, withResource, withType } from './event-selection.ts';

export interface EventPickerProps {
  /** `['*']`, wildcards such as `payment.*`, and single types. */
  readonly value: readonly string[];
  readonly onChange: (value: readonly string[]) => void;
  /** The part of the request body that the picker sends. */
  readonly param: string;
  readonly error?: string | undefined;
  /** Why the form cannot be submitted; shown from the first submit on. */
  readonly missing?: string | undefined;
}

/** Selects all events, all events of a resource, or single types, each with its description. */
export function EventPicker({ value, onChange, param, error, missing }: EventPickerProps) {
  const shownMissing = useMissing(missing);
  const problem = useFieldProblem(param, 'Events');
  const message = error ?? shownMissing ?? problem;
  const isAll = value.includes('*');
  return (
    <div className="flex flex-col gap-2">
      <RadioCards
        legend="Events"
        param={null}
        value={isAll ? 'all' : 'some'}
        onChange={(mode) => onChange(mode === 'all' ? ['*'] : [])}
        options={[
          { value: 'all', label: 'All events', hint: 'Includes types that are added later.' },
          { value: 'some', label: 'Selected events', hint: 'All events of a resource, or single types.' },
        ]}
      />
      {isAll ? null : <Types value={value} onChange={onChange} isInvalid={message !== undefined} />}
      {message === undefined ? null : (
        <p role="alert" className="text-sm text-bad">
          <Prose text={message} />
        </p>
      )}
    </div>
  );
}

function Types({
  value,
  onChange,
  isInvalid,
}: Pick<EventPickerProps, 'value' | 'onChange'> & { readonly isInvalid: boolean }) {
  const searchId = useId();
  const [query, setQuery] = useState('');
  const events = useCapabilities()?.events;
  if (events === undefined) return <Skeleton className="h-56 w-full" />;
  const shown = matchingTypes(events, query);
  const resources = [...new Set(shown.map(({ resource }) => resource))];
  return (
    <div className="overflow-hidden rounded-md border">
      <div className="relative border-b bg-surface p-2">
        <label htmlFor={searchId} className="sr-only">
          Search event types
        </label>
        <Search aria-hidden size={15} className="absolute inset-y-0 left-4.5 my-auto text-muted" />
        <input
          id={searchId}
          type="search"
          aria-invalid={isInvalid || undefined}
          className="control pl-8"
          placeholder="Search event types"
          value={query}
          onChange={(event) => setQuery(event.currentTarget.value)}
          // Enter would submit the surrounding form.
          onKeyDown={(event) => event.key === 'Enter' && event.preventDefault()}
        />
      </div>
      <div className="max-h-72 overflow-y-auto px-3">
        {resources.map((resource) => {
          const hasAll = value.includes(`${resource}.*`);
          return (
            <div key={resource} className="border-b py-2.5 last:border-b-0">
              <Checkbox
                label={<span className="font-mono text-sm font-medium">{resource}.*</span>}
                hint={`All ${resource} events, including types that are added later.`}
                isOn={hasAll}
                onChange={(isOn) => onChange(withResource(value, resource, isOn))}
              />
              <div className="mt-2 flex flex-col gap-2 pl-6">
                {shown
                  .filter((event) => event.resource === resource)
                  .map(({ type, description }) => (
                    <Checkbox
                      key={type}
                      label={<span className="font-mono text-sm">{type}</span>}
                      hint={description}
                      isOn={hasAll || value.includes(type)}
                      disabled={hasAll}
                      onChange={(isOn) => onChange(withType(value, type, isOn))}
                    />
                  ))}
              </div>
            </div>
          );
        })}
        {shown.length === 0 ? (
          <p className="py-6 text-center text-muted">No type matches “{query}”.</p>
        ) : null}
      </div>
      <p role="status" className="border-t bg-sunken px-3 py-1.5 text-sm text-muted">
        {value.length === 0 ? 'Nothing selected yet.' : `Selected: ${value.join(', ')}.`}
        {query.trim() === '' ? null : ` ${pluralize(shown.length, 'type')} found.`}
      </p>
    </div>
  );
}
