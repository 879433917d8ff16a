import { useState } from 'react';
import { useWrite } from '../../client/queries.ts';
import { Button } from '../../parts/button.tsx';
import { Dialog } from '../../parts/dialog.tsx';
import { Field, Input } from '../../parts/field.tsx';
import { useToast } from '../../parts/toast.tsx';
import { ConfirmPassword } from '../confirm-password.tsx';

/** The address that the person signs in with, and a dialog to change it. */
export function ChangeEmail({ email }: { readonly email: string }) {
  const [isOpen, setOpen] = useState(false);
  return (
    <div className="mt-5 flex max-w-md flex-wrap items-center justify-between gap-3 border-t pt-4">
      <div className="min-w-0">
        <p className="text-sm font-medium">Email</p>
        <p className="truncate text-muted">{email}</p>
      </div>
      <Button onClick={() => setOpen(true)}>Change email…</Button>
      {isOpen ? <EmailDialog onClose={() => setOpen(false)} /> : null}
    </div>
  );
}

function EmailDialog({ onClose }: { readonly onClose: () => void }) {
  const { toast } = useToast();
  const [email, setEmail] = useState('');
  const [password, setPassword] = useState('');
  const change = useWrite('session/email', {
    onDone: () => {
      toast('Email changed; your other sessions have ended');
      onClose();
    },
  });
  return (
    <Dialog
      isOpen
      onOpenChange={onClose}
      size="small"
      title="Change email"
      description="You sign in with the new address. Your other sessions end. This sandbox sends no email, so the address is not verified."
      submitLabel="Change email"
      onSubmit={() => void change.write({ email: email.trim(), password })}
      isBusy={change.isBusy}
      problem={change.problem}
    >
      <Field
        label="New email"
        missing={email.trim() === '' ? 'Enter the new address.' : undefined}
        param="email"
      >
        <Input
          type="email"
          autoComplete="email"
          required
          value={email}
          onChange={(event) => setEmail(event.currentTarget.value)}
        />
      </Field>
      <ConfirmPassword value={password} onChange={setPassword} />
    </Dialog>
  );
}
