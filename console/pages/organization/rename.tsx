import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { useLimits } from '../../client/capabilities.ts';
import { keys, useWrite } from '../../client/queries.ts';
import type { Organization } from '../../generated/shapes.ts';
import { Button } from '../../parts/button.tsx';
import { Field, Input } from '../../parts/field.tsx';
import { Form } from '../../parts/form.tsx';
import { FormProblemBanner } from '../../parts/form-problem.tsx';
import { useToast } from '../../parts/toast.tsx';

export function Rename({ name }: { readonly name: string }) {
  const { toast } = useToast();
  const limits = useLimits();
  const client = useQueryClient();
  const [typed, setTyped] = useState(name);
  const rename = useWrite<Organization>('org/organization/rename', {
    onDone: () => {
      toast('Organization renamed');
      // The switcher in the header reads the name from the session.
      void client.invalidateQueries({ queryKey: keys.session });
    },
  });
  return (
    <Form
      onSubmit={() => void rename.write({ name: typed.trim() })}
      isBusy={rename.isBusy}
      problem={rename.problem}
      className="flex max-w-md flex-col gap-3"
    >
      <Field label="Name" missing={typed.trim() === '' ? 'Enter a name.' : undefined} param="name">
        <Input
          required
          maxLength={limits.nameLengthMax}
          autoComplete="off"
          value={typed}
          onChange={(event) => setTyped(event.currentTarget.value)}
        />
      </Field>
      <FormProblemBanner />
      <div>
        <Button type="submit" isBusy={rename.isBusy}>
          Rename
        </Button>
      </div>
    </Form>
  );
}
