import { useState } from 'react';
import { useLimits } from '../../client/capabilities.ts';
import { useDebounced } from '../../client/debounced.ts';
import { type List, useRead } from '../../client/queries.ts';
import type { Customer, CustomerNames } from '../../generated/shapes.ts';
import { Chip } from '../../parts/filter-bar.tsx';

const suggestedMax = 8;
const settleMs = 200;

export interface CustomerFilterProps {
  /** The id of the customer. */
  readonly value: string | undefined;
  readonly onChange: (id: string) => void;
}

/** Filters by a customer, who is found by name, email, reference or id. */
export function CustomerFilter({ value, onChange }: CustomerFilterProps) {
  const { data } = useRead<CustomerNames>(
    'app/customer_names',
    { ids: value },
    { isEnabled: value !== undefined },
  );
  const shown = value === undefined ? undefined : (data?.names.find(({ id }) => id === value)?.name ?? value);
  return (
    <Chip label="Customer" shown={shown} onClear={() => onChange('')}>
      {(close) => (
        <CustomerPicker
          onPick={(id) => {
            onChange(id);
            close();
          }}
        />
      )}
    </Chip>
  );
}

function CustomerPicker({ onPick }: { readonly onPick: (id: string) => void }) {
  const [text, setText] = useState('');
  const { searchLengthMax } = useLimits();
  const q = useDebounced(text.trim(), settleMs);
  const list = useRead<List<Customer>>(
    'app/developer_api_customers',
    { limit: suggestedMax, ...(q === '' ? {} : { q }) },
    { keepPreviousData: true },
  );
  const customers = list.data?.data ?? [];
  const isSettled = !list.isLoading && !list.isRefreshing && q === text.trim();
  return (
    <div className="-m-2 flex flex-col gap-1">
      <input
        aria-label="Find customer"
        placeholder="Name, email, reference or id"
        autoComplete="off"
        maxLength={searchLengthMax}
        className="control mb-1"
        value={text}
        onChange={(event) => setText(event.currentTarget.value)}
      />
      <ul aria-label="Customers" aria-busy={!isSettled} className="flex max-h-72 flex-col overflow-y-auto">
        {customers.map(({ id, name, email }) => (
          <li key={id}>
            <button
              type="button"
              onClick={() => onPick(id)}
              className="flex min-h-8 w-full items-baseline gap-2 rounded-sm px-2 text-left hover:bg-hover"
            >
              <span className="truncate">{name ?? email ?? id}</span>
              {name !== null && email !== null ? (
                <span className="truncate text-sm text-muted">{email}</span>
              ) : null}
            </button>
          </li>
        ))}
      </ul>
      {isSettled && customers.length === 0 ? (
        <p className="px-2 text-muted">{list.problem?.message ?? 'No match.'}</p>
      ) : null}
    </div>
  );
}
