import { type FormEvent, useState } from 'react';
import { useWrite } from '../../client/queries.ts';
import { usePerson, useSession } from '../../frame/session.tsx';
import { Button } from '../../parts/button.tsx';
import { Card } from '../../parts/card.tsx';
import { Field, Input, isAbout } from '../../parts/field.tsx';
import { ProblemBanner } from '../../parts/problem.tsx';
import { useToast } from '../../parts/toast.tsx';

export function Profile() {
  const person = usePerson();
  const { limits } = useSession();
  const { toast } = useToast();
  const [name, setName] = useState(person.name);
  const save = useWrite('session/profile', { onDone: () => toast('Name saved') });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    void save.write({ name: name.trim() });
  };
  return (
    <Card title="Profile">
      <form onSubmit={submit} className="flex max-w-md flex-col gap-4">
        <Field label="Name" problem={save.problem} param="name">
          <Input
            autoComplete="name"
            required
            maxLength={limits.nameLengthMax}
            value={name}
            onChange={(event) => setName(event.currentTarget.value)}
          />
        </Field>
        <Field label="Email" hint="Used to sign in.">
          <Input type="email" value={person.email} disabled />
        </Field>
        {save.problem && !isAbout(save.problem, 'name') ? <ProblemBanner problem={save.problem} /> : null}
        <div>
          <Button
            type="submit"
            isBusy={save.isBusy}
            disabled={name.trim() === '' || name.trim() === person.name}
          >
            Save name
          </Button>
        </div>
      </form>
    </Card>
  );
}
