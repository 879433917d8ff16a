import { type FormEvent, useState } from 'react';
import { useWrite } from '../client/queries.ts';
import type { Session } from '../client/shapes.ts';
import { useToken } from '../frame/params.ts';
import { StandalonePage } from '../frame/standalone-page.tsx';
import { Anchor } from '../parts/anchor.tsx';
import { Button, buttonClass } from '../parts/button.tsx';
import { Field, PasswordInput } from '../parts/field.tsx';
import { ProblemBanner } from '../parts/problem.tsx';
import { passwordHint, passwordMax, passwordMin } from './account/sign-up-form.tsx';

/** The page of a reset link, which an owner has created: set a new password, then sign in. */
export function Reset() {
  const token = useToken();
  const [password, setPassword] = useState('');
  const [isTooShort, setTooShort] = useState(false);
  const reset = useWrite<Session>('session/password_reset');
  const submit = (event: FormEvent) => {
    event.preventDefault();
    setTooShort(password.length < passwordMin);
    if (password.length >= passwordMin) void reset.write({ token, newPassword: password });
  };
  if (reset.response) {
    return (
      <StandalonePage title="Password changed">
        <div className="flex flex-col gap-4" role="status">
          <p className="text-muted">Your sessions have ended. Sign in with the new password.</p>
          <Anchor to="/sign-in" className={buttonClass('primary')}>
            Sign in
          </Anchor>
        </div>
      </StandalonePage>
    );
  }
  return (
    <StandalonePage title="Choose a new password">
      <form onSubmit={submit} className="flex flex-col gap-4">
        {reset.problem ? <ProblemBanner problem={reset.problem} /> : null}
        <Field
          label="New password"
          hint={passwordHint}
          error={isTooShort ? `Use at least ${passwordMin} characters.` : undefined}
        >
          <PasswordInput
            name="password"
            autoComplete="new-password"
            required
            maxLength={passwordMax}
            value={password}
            onChange={(event) => setPassword(event.currentTarget.value)}
          />
        </Field>
        <Button type="submit" variant="primary" isBusy={reset.isBusy}>
          Change password
        </Button>
      </form>
    </StandalonePage>
  );
}
