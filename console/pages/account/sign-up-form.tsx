import { useState } from 'react';
import { useWrite } from '../../client/queries.ts';
import { useSession } from '../../frame/session.tsx';
import type { Session } from '../../generated/shapes.ts';
import { Button } from '../../parts/button.tsx';
import { Field, Input, PasswordInput } from '../../parts/field.tsx';
import { Form } from '../../parts/form.tsx';
import { FormProblemBanner } from '../../parts/form-problem.tsx';

export function passwordHint({ passwordLengthMin }: Session['limits']): string {
  return `At least ${passwordLengthMin} characters, for example a passphrase. Common passwords are rejected.`;
}

/** Why a new password cannot be submitted; the server checks the rest. */
export function passwordProblem(
  password: string,
  { passwordLengthMin }: Session['limits'],
): string | undefined {
  return password.length < passwordLengthMin ? `Use at least ${passwordLengthMin} characters.` : undefined;
}

export interface SignUpFormProps {
  /** The invitation token; the account joins its organization. */
  readonly invitation?: string;
  /** The invited address; read-only if given. */
  readonly email?: string | null;
  readonly onDone: (session: Session) => void;
}

/** For open registration and for invitations. */
export function SignUpForm({ invitation, email: invited, onDone }: SignUpFormProps) {
  const { limits } = useSession();
  const [name, setName] = useState('');
  const [email, setEmail] = useState(invited ?? '');
  const [password, setPassword] = useState('');
  const signUp = useWrite<Session>('session/sign_up', { onDone });
  const { problem } = signUp;
  const isEmailTaken = problem?.code === 'email_taken';
  const submit = () => {
    const body = { name: name.trim(), email: email.trim(), password, ...(invitation ? { invitation } : {}) };
    void signUp.write(body);
  };
  return (
    <Form
      onSubmit={submit}
      isBusy={signUp.isBusy}
      problem={isEmailTaken ? null : problem}
      className="flex flex-col gap-4"
    >
      <FormProblemBanner />
      <Field label="Name" missing={name.trim() === '' ? 'Enter your name.' : undefined} param="name">
        <Input
          name="name"
          autoComplete="name"
          required
          maxLength={limits.nameLengthMax}
          value={name}
          onChange={(event) => setName(event.currentTarget.value)}
        />
      </Field>
      <Field
        label="Email"
        missing={email.trim() === '' ? 'Enter your email address.' : undefined}
        param="email"
        error={isEmailTaken ? problem.message : undefined}
      >
        <Input
          type="email"
          name="email"
          autoComplete="username"
          required
          readOnly={Boolean(invited)}
          value={email}
          onChange={(event) => setEmail(event.currentTarget.value)}
        />
      </Field>
      <Field
        label="Password"
        hint={passwordHint(limits)}
        param="password"
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
      <Button type="submit" variant="primary" isBusy={signUp.isBusy}>
        Create account
      </Button>
    </Form>
  );
}
