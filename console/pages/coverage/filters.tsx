import { useRead } from '../../client/queries.ts';
import type { Capabilities } from '../../generated/shapes.ts';
import { FilterBar, FilterSelect } from '../../parts/filter-bar.tsx';
import { sentenceCase } from '../../parts/text.ts';

interface Chosen {
  readonly resource?: string;
  readonly show?: string;
}

export interface CoverageFiltersProps {
  readonly filters: Chosen;
  readonly setFilters: (change: { resource?: string; show?: string }) => void;
}

export function CoverageFilters({ filters, setFilters }: CoverageFiltersProps) {
  const { resource, show } = filters;
  const { data } = useRead<Capabilities>('app/developer_api_capabilities');
  const isFiltered = resource !== undefined || show !== undefined;
  return (
    <FilterBar onClear={isFiltered ? () => setFilters({ resource: '', show: '' }) : undefined}>
      <FilterSelect
        label="Resource"
        value={resource}
        options={(data?.resources ?? []).map(({ name }) => ({ value: name, label: sentenceCase(name) }))}
        onChange={(next) => setFilters({ resource: next })}
      />
      <FilterSelect
        label="Show"
        value={show}
        options={[
          { value: 'gaps', label: 'Gaps' },
          { value: 'met', label: 'Covered' },
        ]}
        onChange={(next) => setFilters({ show: next })}
      />
    </FilterBar>
  );
}
