import { useState } from 'react';
import type { ApiProblem } from '../../client/request.ts';
import { instantOfDay } from '../../parts/day.ts';
import { Field, Input, Select } from '../../parts/field.tsx';
import { expiryOf } from './draft.ts';

const choices = [
  { value: 'never', label: 'Never' },
  { value: '30', label: 'In 30 days' },
  { value: '90', label: 'In 90 days' },
  { value: 'date', label: 'On a date' },
];

export interface ExpiryFieldProps {
  /** Null is never; '' is a date that is not chosen yet. */
  readonly expiresAt: string | null;
  readonly onChange: (expiresAt: string | null) => void;
  readonly error?: string | undefined;
  readonly problem: ApiProblem | null;
}

/** The instant is made when it is chosen, not when it is sent: a form sent twice must say the same twice. */
export function ExpiryField({ expiresAt, onChange, error, problem }: ExpiryFieldProps) {
  const [choice, setChoice] = useState(expiresAt === null ? 'never' : 'date');
  const choose = (value: string) => {
    setChoice(value);
    onChange(expiryOf(value, Date.now()));
  };
  return (
    <div className="grid gap-3 sm:grid-cols-2">
      <Field label="Expires" {...(choice === 'date' ? {} : { error, problem, param: 'expiresAt' })}>
        <Select value={choice} options={choices} onChange={(event) => choose(event.currentTarget.value)} />
      </Field>
      {choice === 'date' ? (
        <Field
          label="Last day"
          hint="The key ends when this day ends in UTC."
          error={error}
          problem={problem}
          param="expiresAt"
        >
          <Input
            type="date"
            min={new Date().toISOString().slice(0, 10)}
            value={expiresAt?.slice(0, 10) ?? ''}
            onChange={({ currentTarget: { value } }) => onChange(instantOfDay(value, 'end'))}
          />
        </Field>
      ) : null}
    </div>
  );
}
