import type { ApiProblem } from '../client/request.ts';
import { Field, PasswordInput } from '../parts/field.tsx';

export interface ConfirmPasswordProps {
  readonly value: string;
  readonly onChange: (value: string) => void;
  /** Shown at the field if it is about the password. */
  readonly problem?: ApiProblem | null;
  readonly error?: string | undefined;
}

/** The password of the signed-in person, for changes that a stolen session must not allow. */
export function ConfirmPassword({ value, onChange, problem = null, error }: ConfirmPasswordProps) {
  return (
    <Field
      label="Password"
      missing={value === '' ? 'Enter your password.' : undefined}
      error={error}
      problem={problem}
      param="password"
    >
      <PasswordInput
        autoComplete="current-password"
        required
        value={value}
        onChange={(event) => onChange(event.currentTarget.value)}
      />
    </Field>
  );
}
