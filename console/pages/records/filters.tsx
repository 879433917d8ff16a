import type { ReactNode } from 'react';
import { useCurrencies } from '../../client/capabilities.ts';
import { useNow } from '../../client/now.ts';
import { activeFilters, clearedFilters } from '../../client/search-params.ts';
import { FilterBar, FilterDates, FilterSelect } from '../../parts/filter-bar.tsx';
import { sentenceCase } from '../../parts/text.ts';
import { AmountFilter } from './amount-filter.tsx';
import { CustomerFilter } from './customer-filter.tsx';
import { Lookup } from './lookup.tsx';

export interface RecordFiltersProps {
  readonly values: Readonly<Record<string, string | undefined>>;
  readonly onChange: (change: Readonly<Record<string, string | undefined>>) => void;
  readonly statuses: readonly string[];
  readonly placeholder: string;
  readonly hasCustomer: boolean;
  readonly hasAmount: boolean;
  /** On the right, such as an export button. */
  readonly actions?: ReactNode;
  /** Filters that only this list has. */
  readonly children?: ReactNode;
}

/** Search, status, dates and the filters of the list, above its table. */
export function RecordFilters({
  values,
  onChange,
  statuses,
  placeholder,
  hasCustomer,
  hasAmount,
  actions,
  children,
}: RecordFiltersProps) {
  const now = useNow('application');
  const currencies = useCurrencies().map(({ code }) => code);
  const clear = () => onChange(clearedFilters(values));
  return (
    <FilterBar onClear={activeFilters(values).length > 0 ? clear : undefined} actions={actions}>
      <Lookup value={values.q} onChange={(q) => onChange({ q })} placeholder={placeholder} />
      <FilterSelect
        label="Status"
        value={values.status}
        onChange={(status) => onChange({ status })}
        options={statuses.map((status) => ({ value: status, label: sentenceCase(status) }))}
      />
      {hasCustomer ? (
        <CustomerFilter value={values.customerId} onChange={(customerId) => onChange({ customerId })} />
      ) : null}
      {children}
      <FilterDates
        label="Created"
        from={values.createdAfter}
        to={values.createdBefore}
        now={now}
        onChange={({ from, to }) => onChange({ createdAfter: from, createdBefore: to })}
      />
      {hasAmount ? (
        <>
          <FilterSelect
            label="Currency"
            value={values.currency}
            onChange={(currency) =>
              // Without a currency, the amounts have no meaning.
              onChange(currency === '' ? { currency, amountMin: '', amountMax: '' } : { currency })
            }
            options={currencies}
          />
          <AmountFilter values={values} onChange={onChange} />
        </>
      ) : null}
    </FilterBar>
  );
}
