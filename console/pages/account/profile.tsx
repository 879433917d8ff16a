import { useState } from 'react';
import { useWrite } from '../../client/queries.ts';
import { usePerson, useSession } from '../../frame/session.tsx';
import { Button } from '../../parts/button.tsx';
import { Card } from '../../parts/card.tsx';
import { Field, Input } from '../../parts/field.tsx';
import { Form } from '../../parts/form.tsx';
import { FormProblemBanner } from '../../parts/form-problem.tsx';
import { useToast } from '../../parts/toast.tsx';
import { ChangeEmail } from './email.tsx';

export function Profile() {
  const person = usePerson();
  const { limits } = useSession();
  const { toast } = useToast();
  const [name, setName] = useState(person.name);
  const save = useWrite('session/profile', { onDone: () => toast('Name saved') });
  return (
    <Card title="Profile">
      <Form
        onSubmit={() => void save.write({ name: name.trim() })}
        isBusy={save.isBusy}
        problem={save.problem}
        className="flex max-w-md flex-col gap-4"
      >
        <Field label="Name" missing={name.trim() === '' ? 'Enter your name.' : undefined} param="name">
          <Input
            autoComplete="name"
            required
            maxLength={limits.nameLengthMax}
            value={name}
            onChange={(event) => setName(event.currentTarget.value)}
          />
        </Field>
        <FormProblemBanner />
        <div>
          <Button type="submit" isBusy={save.isBusy}>
            Save name
          </Button>
        </div>
      </Form>
      <ChangeEmail email={person.email} />
    </Card>
  );
}
