import { useState } from 'react';
import { useWrite } from '../client/queries.ts';
import { useToken } from '../frame/params.ts';
import { useSession } from '../frame/session.tsx';
import { StandalonePage } from '../frame/standalone-page.tsx';
import type { Session } from '../generated/shapes.ts';
import { Anchor } from '../parts/anchor.tsx';
import { Button, buttonClass } from '../parts/button.tsx';
import { Field, PasswordInput } from '../parts/field.tsx';
import { Form } from '../parts/form.tsx';
import { FormProblemBanner } from '../parts/form-problem.tsx';
import { passwordHint, passwordProblem } from './account/sign-up-form.tsx';

/** The page of a reset link, which an owner has created: set a new password, then sign in. */
export function Reset() {
  const token = useToken();
  const { limits } = useSession();
  const [password, setPassword] = useState('');
  const reset = useWrite<Session>('session/password_reset');
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
      <Form
        onSubmit={() => void reset.write({ token, newPassword: password })}
        isBusy={reset.isBusy}
        problem={reset.problem}
        className="flex flex-col gap-4"
      >
        <FormProblemBanner />
        <Field
          label="New password"
          hint={passwordHint(limits)}
          param="newPassword"
          missing={passwordProblem(password, limits)}
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
      </Form>
    </StandalonePage>
  );
}
