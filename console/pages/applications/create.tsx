import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { useLimits } from '../../client/capabilities.ts';
import { useWrite } from '../../client/queries.ts';
import { useScope } from '../../client/scope.ts';
import type { Application } from '../../generated/shapes.ts';
import { Dialog } from '../../parts/dialog.tsx';
import { Field, Input } from '../../parts/field.tsx';
import { useToast } from '../../parts/toast.tsx';

export function CreateApplication({ onClose }: { readonly onClose: () => void }) {
  const { orgId } = useScope();
  const { toast } = useToast();
  const limits = useLimits();
  const navigate = useNavigate();
  const [name, setName] = useState('');
  const create = useWrite<Application>('org/applications');
  const submit = async () => {
    const application = await create.write({ name: name.trim() });
    if (application === undefined) return;
    toast(`${application.name} created`);
    // Only after the application list has reloaded: the layout finds the application there.
    void navigate({ to: `/${orgId}/start`, search: { app: application.id } as never });
  };
  return (
    <Dialog
      isOpen
      onOpenChange={onClose}
      size="small"
      title="Create application"
      description="It has its own API keys, webhooks, settings and clock. Records and the ledger belong to the organization."
      submitLabel="Create application"
      onSubmit={() => void submit()}
      isBusy={create.isBusy}
      problem={create.problem}
    >
      <Field
        label="Name"
        hint="Fee, provider, rates and webhook defaults can be set afterwards."
        missing={name.trim() === '' ? 'Enter a name.' : undefined}
        param="name"
      >
        <Input
          required
          maxLength={limits.nameLengthMax}
          placeholder="Web shop"
          autoComplete="off"
          value={name}
          onChange={(event) => setName(event.currentTarget.value)}
        />
      </Field>
    </Dialog>
  );
}
