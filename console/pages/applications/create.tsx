import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { useWrite } from '../../client/queries.ts';
import { useScope } from '../../client/scope.ts';
import type { Application } from '../../client/shapes.ts';
import { Dialog } from '../../parts/dialog.tsx';
import { Field, Input, isAbout } from '../../parts/field.tsx';
import { useToast } from '../../parts/toast.tsx';

export function CreateApplication({ onClose }: { readonly onClose: () => void }) {
  const { orgId } = useScope();
  const { toast } = useToast();
  const navigate = useNavigate();
  const [name, setName] = useState('');
  const create = useWrite<Application>('org/applications');
  const submit = async () => {
    const made = await create.write({ name: name.trim() });
    if (made === undefined) return;
    toast(`${made.name} created`);
    // Not before the list has been read again: the layout knows an application by it.
    void navigate({ to: `/${orgId}/start`, search: { app: made.id } as never });
  };
  return (
    <Dialog
      isOpen
      onOpenChange={onClose}
      size="small"
      title="Create application"
      description="It has API keys, webhooks, settings and a clock of its own. Records and books belong to the organization."
      submitLabel="Create application"
      onSubmit={() => void submit()}
      isBusy={create.isBusy}
      isSubmitDisabled={name.trim() === ''}
      problem={isAbout(create.problem, 'name') ? null : create.problem}
    >
      <Field
        label="Name"
        hint="Fee, provider, rates and webhook defaults can be set afterwards."
        problem={create.problem}
        param="name"
      >
        <Input
          required
          maxLength={200}
          placeholder="Web shop"
          autoComplete="off"
          value={name}
          onChange={(event) => setName(event.currentTarget.value)}
        />
      </Field>
    </Dialog>
  );
}
