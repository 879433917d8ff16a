import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import { useWrite } from '../../client/queries.ts';
import { type ApiProblem, post } from '../../client/request.ts';
import type { PasskeyOptions, Session } from '../../generated/shapes.ts';
import { Button } from '../../parts/button.tsx';
import { Field, Input, PasswordInput } from '../../parts/field.tsx';
import { Form } from '../../parts/form.tsx';
import { FormProblemBanner } from '../../parts/form-problem.tsx';
import { ProblemBanner } from '../../parts/problem.tsx';
import { getPasskey, hasPasskeys } from './web-authn.ts';

export interface PasswordStepProps {
  /** The address of the person who was signed in before. */
  readonly email?: string;
  /** Called with the session, or with the status `two_factor_required`. */
  readonly onDone: (session: Session) => void;
}

/** Signing in, first step: email and password. */
export function PasswordStep({ email: knownEmail = '', onDone }: PasswordStepProps) {
  const [email, setEmail] = useState(knownEmail);
  const [password, setPassword] = useState('');
  const signIn = useWrite<Session>('session/sign_in', { onDone });
  return (
    <Form
      onSubmit={() => void signIn.write({ email: email.trim(), password })}
      isBusy={signIn.isBusy}
      problem={signIn.problem}
      className="flex flex-col gap-4"
    >
      <FormProblemBanner />
      <Field
        label="Email"
        missing={email.trim() === '' ? 'Enter your email address.' : undefined}
        param="email"
      >
        <Input
          type="email"
          name="email"
          autoComplete="username"
          required
          value={email}
          onChange={(event) => setEmail(event.currentTarget.value)}
        />
      </Field>
      <Field
        label="Password"
        param="password"
        missing={password === '' ? 'Enter your password.' : undefined}
        hint="Forgotten? An owner of your organization can create a reset link."
      >
        <PasswordInput
          name="password"
          autoComplete="current-password"
          required
          value={password}
          onChange={(event) => setPassword(event.currentTarget.value)}
        />
      </Field>
      <Button type="submit" variant="primary" isBusy={signIn.isBusy}>
        Sign in
      </Button>
      {hasPasskeys ? <PasskeyStep onDone={onDone} /> : null}
    </Form>
  );
}

/** In place of both steps. */
function PasskeyStep({ onDone }: { readonly onDone: (session: Session) => void }) {
  const signIn = useMutation<Session, ApiProblem, void>({
    mutationFn: async () => {
      const { options } = await post<PasskeyOptions>('session/passkey_options', {});
      return post<Session>('session/passkey', { response: await getPasskey(options) });
    },
    onSuccess: onDone,
  });
  return (
    <>
      {signIn.error ? <ProblemBanner problem={signIn.error} /> : null}
      <Button isBusy={signIn.isPending} onClick={() => signIn.mutate()}>
        Use a passkey
      </Button>
    </>
  );
}

/** Signing in, second step: a code of the authenticator app, or a backup code. */
export function CodeStep({ onDone }: { readonly onDone: (session: Session) => void }) {
  const [isBackup, setBackup] = useState(false);
  const [code, setCode] = useState('');
  const check = useWrite<Session>('session/two_factor', { onDone });
  const submit = () => {
    const body = isBackup ? { backupCode: code.trim() } : { code: code.replaceAll(' ', '') };
    void check.write(body);
  };
  const change = () => {
    setBackup(!isBackup);
    setCode('');
    check.reset();
  };
  return (
    <Form
      key={String(isBackup)}
      onSubmit={submit}
      isBusy={check.isBusy}
      problem={check.problem}
      className="flex flex-col gap-4"
    >
      <FormProblemBanner />
      <Field
        label={isBackup ? 'Backup code' : 'Two-factor code'}
        param={isBackup ? 'backupCode' : 'code'}
        missing={code.trim() === '' ? 'Enter a code.' : undefined}
        hint={isBackup ? 'Each code works once.' : 'The six digits that your authenticator app shows.'}
      >
        <Input
          isMono
          required
          autoFocus
          inputMode={isBackup ? 'text' : 'numeric'}
          autoComplete="one-time-code"
          spellCheck={false}
          maxLength={isBackup ? 64 : 7}
          value={code}
          onChange={(event) => setCode(event.currentTarget.value)}
        />
      </Field>
      <Button type="submit" variant="primary" isBusy={check.isBusy}>
        Continue
      </Button>
      <Button variant="ghost" onClick={change}>
        {isBackup ? 'Use the authenticator app' : 'Use a backup code'}
      </Button>
    </Form>
  );
}
