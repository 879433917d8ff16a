import { type FormEvent, useState } from 'react';
import { useWrite } from '../client/queries.ts';
import { RedirectToNext, useNext } from '../frame/next.tsx';
import { useSession, useSetSession } from '../frame/session.tsx';
import { StandalonePage } from '../frame/standalone-page.tsx';
import type { Session } from '../generated/shapes.ts';
import { Anchor } from '../parts/anchor.tsx';
import { Button } from '../parts/button.tsx';
import { Field, Input, PasswordInput } from '../parts/field.tsx';
import { ProblemBanner } from '../parts/problem.tsx';

/** Email and password, then the second factor if the account has one. */
export function SignIn() {
  const { person, registration } = useSession();
  const next = useNext();
  const [needsCode, setNeedsCode] = useState(false);
  const setSession = useSetSession();
  if (person !== null) return <RedirectToNext />;
  const enter = (session: Session) => {
    if (session.status === 'two_factor_required') setNeedsCode(true);
    else setSession(session);
  };
  if (needsCode) return <SecondStep onDone={enter} onBack={() => setNeedsCode(false)} />;
  return (
    <StandalonePage
      title="Sign in"
      footer={
        registration === 'open' ? (
          <>
            New here?{' '}
            <Anchor to="/sign-up" search={{ next }}>
              Create an account
            </Anchor>
          </>
        ) : (
          'New accounts require an invitation.'
        )
      }
    >
      <FirstStep onDone={enter} />
    </StandalonePage>
  );
}

function FirstStep({ onDone }: { readonly onDone: (session: Session) => void }) {
  const [email, setEmail] = useState('');
  const [password, setPassword] = useState('');
  const signIn = useWrite<Session>('session/sign_in', { onDone });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    void signIn.write({ email: email.trim(), password });
  };
  return (
    <form onSubmit={submit} className="flex flex-col gap-4">
      {signIn.problem ? <ProblemBanner problem={signIn.problem} /> : null}
      <Field label="Email" problem={signIn.problem} param="email">
        <Input
          type="email"
          name="email"
          autoComplete="username"
          required
          value={email}
          onChange={(event) => setEmail(event.currentTarget.value)}
        />
      </Field>
      <Field label="Password" hint="Forgotten? An owner of your organization can create a reset link.">
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
    </form>
  );
}

interface SecondStepProps {
  readonly onDone: (session: Session) => void;
  readonly onBack: () => void;
}

function SecondStep({ onDone, onBack }: SecondStepProps) {
  const [isBackup, setBackup] = useState(false);
  const [code, setCode] = useState('');
  const check = useWrite<Session>('session/two_factor', { onDone });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    const body = isBackup ? { backupCode: code.trim() } : { code: code.replaceAll(' ', '') };
    void check.write(body);
  };
  const change = () => {
    setBackup(!isBackup);
    setCode('');
    check.reset();
  };
  return (
    <StandalonePage
      title="Second step"
      description={
        isBackup
          ? 'Enter one of your backup codes. Each works once.'
          : 'Enter the six digits from your authenticator app.'
      }
      footer={
        <Button variant="ghost" size="small" onClick={onBack}>
          Sign in with another account
        </Button>
      }
    >
      <form onSubmit={submit} className="flex flex-col gap-4">
        {check.problem ? <ProblemBanner problem={check.problem} /> : null}
        <Field label={isBackup ? 'Backup code' : 'Code'}>
          <Input
            key={String(isBackup)}
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
      </form>
    </StandalonePage>
  );
}
