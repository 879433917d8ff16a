import { useState } from 'react';
import { zoneName } from '../../client/zone.ts';
import { dayOfInstant, instantOfDay } from '../../parts/day.ts';
import { Field, Input, Select } from '../../parts/field.tsx';
import { expiryOf } from './draft.ts';

const choices = [
  { value: 'never', label: 'Never' },
  { value: '30', label: 'In 30 days' },
  { value: '90', label: 'In 90 days' },
  { value: 'date', label: 'On a date' },
];

export interface ExpiryFieldProps {
  /** Null: never. Empty: a date that is not entered yet. */
  readonly expiresAt: string | null;
  readonly onChange: (expiresAt: string | null) => void;
  /** Why the form cannot be submitted; shown from the first submit on. */
  readonly missing?: string | undefined;
}

/** The instant is computed on selection, not on submit, so that a retry sends the same body. */
export function ExpiryField({ expiresAt, onChange, missing }: ExpiryFieldProps) {
  const [choice, setChoice] = useState(expiresAt === null ? 'never' : 'date');
  const choose = (value: string) => {
    setChoice(value);
    onChange(expiryOf(value, Date.now()));
  };
  return (
    <div className="grid gap-3 sm:grid-cols-2">
      <Field label="Expires" {...(choice === 'date' ? { param: null } : { missing, param: 'expiresAt' })}>
        <Select value={choice} options={choices} onChange={(event) => choose(event.currentTarget.value)} />
      </Field>
      {choice === 'date' ? (
        <Field
          label="Last day"
          hint={`The key expires at the end of this day (${zoneName()}).`}
          missing={missing}
          param="expiresAt"
        >
          <Input
            type="date"
            min={dayOfInstant(new Date().toISOString())}
            value={dayOfInstant(expiresAt ?? undefined)}
            onChange={({ currentTarget: { value } }) => onChange(instantOfDay(value, 'end'))}
          />
        </Field>
      ) : null}
    </div>
  );
}
