import { useState } from 'react';
import { useWrite } from '../../client/queries.ts';
import { useSession } from '../../frame/session.tsx';
import { Button } from '../../parts/button.tsx';
import { Card } from '../../parts/card.tsx';
import { Field, PasswordInput } from '../../parts/field.tsx';
import { Form } from '../../parts/form.tsx';
import { FormProblemBanner } from '../../parts/form-problem.tsx';
import { useToast } from '../../parts/toast.tsx';
import { passwordHint, passwordProblem } from './sign-up-form.tsx';

export function Password() {
  const { toast } = useToast();
  const { limits } = useSession();
  const [currentPassword, setCurrent] = useState('');
  const [newPassword, setNew] = useState('');
  const change = useWrite('session/password', {
    onDone: () => {
      setCurrent('');
      setNew('');
      toast('Password changed; your other sessions have ended');
    },
  });
  const isWrong = change.problem?.code === 'password_wrong';
  return (
    <Card title="Password" description="Changing it ends your other sessions.">
      <Form
        onSubmit={() => void change.write({ currentPassword, newPassword })}
        isBusy={change.isBusy}
        problem={isWrong ? null : change.problem}
        className="flex max-w-md flex-col gap-4"
      >
        <Field
          label="Current password"
          param="currentPassword"
          missing={currentPassword === '' ? 'Enter your current password.' : undefined}
          error={isWrong ? change.problem?.message : undefined}
        >
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
          param="newPassword"
          missing={passwordProblem(newPassword, limits)}
        >
          <PasswordInput
            autoComplete="new-password"
            required
            maxLength={limits.passwordLengthMax}
            value={newPassword}
            onChange={(event) => setNew(event.currentTarget.value)}
          />
        </Field>
        <FormProblemBanner />
        <div>
          <Button type="submit" isBusy={change.isBusy}>
            Change password
          </Button>
        </div>
      </Form>
    </Card>
  );
}
