import { useState } from 'react';
import { editableAmount, formatAmount, parseAmount } from '../../client/amount.ts';
import { useCurrencies } from '../../client/capabilities.ts';
import { Button } from '../../parts/button.tsx';
import { Field, Select } from '../../parts/field.tsx';
import { Chip } from '../../parts/filter-bar.tsx';
import { Form } from '../../parts/form.tsx';
import { AmountField } from './amount-field.tsx';

export type AmountFilterValues = Readonly<
  Partial<Record<'currency' | 'amountMin' | 'amountMax', string | undefined>>
>;

export interface AmountFilterProps {
  readonly values: AmountFilterValues;
  readonly onChange: (change: AmountFilterValues) => void;
}

/** A range of amounts in one currency: amounts of different currencies do not compare. */
export function AmountFilter({ values, onChange }: AmountFilterProps) {
  const { currency, amountMin, amountMax } = values;
  const textOf = (amount: string | undefined) =>
    amount === undefined ? '…' : currency === undefined ? amount : formatAmount(amount, currency);
  const isSet = amountMin !== undefined || amountMax !== undefined;
  return (
    <Chip
      label="Amount"
      shown={isSet ? `${textOf(amountMin)} – ${textOf(amountMax)}` : undefined}
      onClear={() => onChange({ amountMin: '', amountMax: '' })}
    >
      {(close) => (
        <AmountForm
          values={values}
          onSubmit={(change) => {
            onChange(change);
            close();
          }}
        />
      )}
    </Chip>
  );
}

function AmountForm({
  values,
  onSubmit,
}: {
  readonly values: AmountFilterValues;
  readonly onSubmit: (change: AmountFilterValues) => void;
}) {
  const currencies = useCurrencies().map(({ code }) => code);
  const [currency, setCurrency] = useState(values.currency ?? 'EUR');
  const initial = (amount: string | undefined) =>
    amount === undefined ? '' : editableAmount(amount, currency);
  const [least, setLeast] = useState(() => initial(values.amountMin));
  const [most, setMost] = useState(() => initial(values.amountMax));
  const [from, to] = [minorOf(least, currency), minorOf(most, currency)];
  const submit = () => {
    if (from !== null && to !== null) onSubmit({ currency, amountMin: from, amountMax: to });
  };
  return (
    <Form className="flex flex-col gap-3" onSubmit={submit}>
      <Field label="Currency" param={null}>
        <Select
          value={currency}
          options={currencies}
          onChange={(event) => setCurrency(event.currentTarget.value)}
        />
      </Field>
      <AmountField label="At least" currency={currency} text={least} onChange={setLeast} isOptional />
      <AmountField label="At most" currency={currency} text={most} onChange={setMost} isOptional />
      <Button type="submit" variant="primary">
        Apply
      </Button>
    </Form>
  );
}

/** One end of the range in minor units, or null for a text that is not an amount. An empty end is open. */
function minorOf(text: string, currency: string): string | null {
  if (text.trim() === '') return '';
  const parsed = parseAmount(text, currency);
  return 'problem' in parsed ? null : String(parsed.minor);
}
