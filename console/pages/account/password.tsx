import { type FormEvent, useState } from 'react';
import { useWrite } from '../../client/queries.ts';
import { useSession } from '../../frame/session.tsx';
import { Button } from '../../parts/button.tsx';
import { Card } from '../../parts/card.tsx';
import { Field, PasswordInput } from '../../parts/field.tsx';
import { ProblemBanner } from '../../parts/problem.tsx';
import { useToast } from '../../parts/toast.tsx';
import { passwordHint } from './sign-up-form.tsx';

export function Password() {
  const { toast } = useToast();
  const { limits } = useSession();
  const [currentPassword, setCurrent] = useState('');
  const [newPassword, setNew] = useState('');
  const [isTooShort, setTooShort] = useState(false);
  const change = useWrite('session/password', {
    onDone: () => {
      setCurrent('');
      setNew('');
      toast('Password changed; your other sessions have ended');
    },
  });
  const isWrong = change.problem?.code === 'password_wrong';
  const submit = (event: FormEvent) => {
    event.preventDefault();
    const isShort = newPassword.length < limits.passwordLengthMin;
    setTooShort(isShort);
    if (!isShort) void change.write({ currentPassword, newPassword });
  };
  return (
    <Card title="Password" description="Changing it ends your other sessions.">
      <form onSubmit={submit} className="flex max-w-md flex-col gap-4">
        <Field label="Current password" error={isWrong ? change.problem?.message : undefined}>
          <PasswordInput
            autoComplete="current-password"
            required
            value={currentPassword}
            onChange={(event) => setCurrent(event.currentTarget.value)}
          />
        </Field>
        <Field
          label="New password"
          hint={passwordHint(limits)}
          error={isTooShort ? `Use at least ${limits.passwordLengthMin} characters.` : undefined}
        >
          <PasswordInput
            autoComplete="new-password"
            required
            maxLength={limits.passwordLengthMax}
            value={newPassword}
            onChange={(event) => setNew(event.currentTarget.value)}
          />
        </Field>
        {change.problem && !isWrong ? <ProblemBanner problem={change.problem} /> : null}
        <div>
          <Button
            type="submit"
            isBusy={change.isBusy}
            disabled={currentPassword === '' || newPassword === ''}
          >
            Change password
          </Button>
        </div>
      </form>
    </Card>
  );
}
