import { Field, PasswordInput } from '../parts/field.tsx';

export interface ConfirmPasswordProps {
  readonly value: string;
  readonly onChange: (value: string) => void;
  readonly error?: string | undefined;
}

/** The password of the signed-in person, for changes that a stolen session must not allow. */
export function ConfirmPassword({ value, onChange, error }: ConfirmPasswordProps) {
  return (
    <Field
      label="Password"
      missing={value === '' ? 'Enter your password.' : undefined}
      error={error}
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
