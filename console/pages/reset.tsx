import { type FormEvent, useState } from 'react';
import { useWrite } from '../client/queries.ts';
import { useToken } from '../frame/params.ts';
import { useSession } from '../frame/session.tsx';
import { StandalonePage } from '../frame/standalone-page.tsx';
import type { Session } from '../generated/shapes.ts';
import { Anchor } from '../parts/anchor.tsx';
import { Button, buttonClass } from '../parts/button.tsx';
import { Field, PasswordInput, problemOutsideFields } from '../parts/field.tsx';
import { ProblemBanner } from '../parts/problem.tsx';
import { passwordHint } from './account/sign-up-form.tsx';

/** The page of a reset link, which an owner has created: set a new password, then sign in. */
export function Reset() {
  const token = useToken();
  const { limits } = useSession();
  const [password, setPassword] = useState('');
  const [isTooShort, setTooShort] = useState(false);
  const reset = useWrite<Session>('session/password_reset');
  const problem = problemOutsideFields(reset.problem, ['newPassword']);
  const submit = (event: FormEvent) => {
    event.preventDefault();
    const isShort = password.length < limits.passwordLengthMin;
    setTooShort(isShort);
    if (!isShort) void reset.write({ token, newPassword: password });
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
        {problem ? <ProblemBanner problem={problem} /> : null}
        <Field
          label="New password"
          hint={passwordHint(limits)}
          problem={reset.problem}
          param="newPassword"
          error={isTooShort ? `Use at least ${limits.passwordLengthMin} characters.` : undefined}
        >
          <PasswordInput
            name="password"
            autoComplete="new-password"
            required
            maxLength={limits.passwordLengthMax}
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
