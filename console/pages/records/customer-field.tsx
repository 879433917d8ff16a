import { useId } from 'react';
import { type List, useRead } from '../../client/queries.ts';
import type { Customer } from '../../generated/shapes.ts';
import { Field, Input } from '../../parts/field.tsx';

export interface CustomerFieldProps {
  readonly id: string;
  readonly onChange: (id: string) => void;
}

const suggestedMax = 100;

/** A customer id with the newest customers as suggestions; any other id can be pasted. */
export function CustomerField({ id, onChange }: CustomerFieldProps) {
  const { data } = useRead<List<Customer>>('app/developer_api_customers', {
    status: 'active',
    limit: suggestedMax,
  });
  const customers = data?.data ?? [];
  const list = useId();
  const chosen = customers.find((customer) => customer.id === id.trim());
  const customerName = chosen && (chosen.name ?? chosen.email ?? undefined);
  return (
    <Field
      label="Customer"
      isOptional
      param="customerId"
      {...(customerName === undefined ? {} : { hint: customerName })}
    >
      <Input
        isMono
        list={list}
        autoComplete="off"
        placeholder="cus_…"
        value={id}
        onChange={(event) => onChange(event.currentTarget.value)}
      />
      <datalist id={list}>
        {customers.map((customer) => (
          <option key={customer.id} value={customer.id}>
            {[customer.name, customer.email].filter(Boolean).join(', ')}
          </option>
        ))}
      </datalist>
    </Field>
  );
}
