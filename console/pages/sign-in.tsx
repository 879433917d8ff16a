import { type FormEvent, useState } from 'react';
import { useWrite } from '../client/queries.ts';
import type { Session } from '../client/shapes.ts';
import { Gate } from '../frame/gate.tsx';
import { GoOn, useNext } from '../frame/next.tsx';
import { useSession, useTakeSession } from '../frame/session.tsx';
import { Anchor } from '../parts/anchor.tsx';
import { Button } from '../parts/button.tsx';
import { Field, Input, PasswordInput } from '../parts/field.tsx';
import { ProblemBanner } from '../parts/problem.tsx';

/** Email and password, then the second step when the account has one. */
export function SignIn() {
  const { person, registration } = useSession();
  const next = useNext();
  const [needsCode, setNeedsCode] = useState(false);
  const take = useTakeSession();
  if (person !== null) return <GoOn />;
  const enter = (session: Session) => {
    if (session.status === 'two_factor_required') setNeedsCode(true);
    else take(session);
  };
  if (needsCode) return <SecondStep onDone={enter} onBack={() => setNeedsCode(false)} />;
  return (
    <Gate
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
          'New accounts are made by invitation only.'
        )
      }
    >
      <FirstStep onDone={enter} />
    </Gate>
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
      <Field label="Password" hint="Forgotten? An owner of your organization can give you a reset link.">
        <PasswordInput
          name="password"
          autoComplete="current-password"
          required
          value={password}
          onChange={(event) => setPassword(event.currentTarget.value)}
        />
      </Field>
      <Button type="submit" look="primary" isBusy={signIn.isBusy}>
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
    <Gate
      title="Second step"
      description={
        isBackup
          ? 'Enter one of your backup codes. Each works once.'
          : 'Enter the six digits from your authenticator app.'
      }
      footer={
        <Button look="ghost" size="small" onClick={onBack}>
          Sign in as somebody else
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
        <Button type="submit" look="primary" isBusy={check.isBusy}>
          Continue
        </Button>
        <Button look="ghost" onClick={change}>
          {isBackup ? 'Use the authenticator app' : 'Use a backup code'}
        </Button>
      </form>
    </Gate>
  );
}
