import { SlidersHorizontal } from 'lucide-react';
import { type ReactNode, useState } from 'react';
import { activeFilters, clearedFilters } from '../../client/search-params.ts';
import { Button } from '../../parts/button.tsx';
import { FilterBar, FilterDate, FilterSelect } from '../../parts/filter-bar.tsx';
import { classes, sentenceCase } from '../../parts/text.ts';
import { Lookup } from './lookup.tsx';

export interface RecordFiltersProps {
  readonly values: Readonly<Record<string, string | undefined>>;
  readonly onChange: (change: Readonly<Record<string, string | undefined>>) => void;
  readonly statuses: readonly string[];
  readonly placeholder: string;
  /** Filters that only this list has. */
  readonly children?: ReactNode;
}

/** Search, status and dates above a list. On phones a button expands everything except the search. */
export function RecordFilters({ values, onChange, statuses, placeholder, children }: RecordFiltersProps) {
  const names = activeFilters(values);
  const set = names.filter((name) => name !== 'q').length;
  const [isUnfolded, setUnfolded] = useState(set > 0);
  const clear = () => onChange(clearedFilters(values));
  return (
    <FilterBar onClear={names.length > 0 ? clear : undefined}>
      <Lookup value={values.q} onChange={(q) => onChange({ q })} placeholder={placeholder} />
      <Button
        className="sm:hidden"
        aria-expanded={isUnfolded}
        icon={<SlidersHorizontal aria-hidden size={15} />}
        onClick={() => setUnfolded(!isUnfolded)}
      >
        {set === 0 ? 'Filters' : `Filters (${set})`}
      </Button>
      <div className={classes('contents', !isUnfolded && 'max-sm:hidden')}>
        <FilterSelect
          label="Status"
          value={values.status}
          onChange={(status) => onChange({ status })}
          options={statuses.map((status) => ({ value: status, label: sentenceCase(status) }))}
        />
        {children}
        <FilterDate
          label="Created from"
          value={values.createdAfter}
          onChange={(createdAfter) => onChange({ createdAfter })}
        />
        <FilterDate
          label="Created until"
          isEnd
          value={values.createdBefore}
          onChange={(createdBefore) => onChange({ createdBefore })}
        />
      </div>
    </FilterBar>
  );
}
