import { useEffect, useState } from 'react';
import { copyText } from '../../client/clipboard.ts';
import type { Invitation, Role } from '../../client/shapes.ts';
import { useRole } from '../../frame/session.tsx';
import { Dialog } from '../../parts/dialog.tsx';
import { Field, Input, isAbout } from '../../parts/field.tsx';
import { Time } from '../../parts/time.tsx';
import { useToast } from '../../parts/toast.tsx';
import { SecretDialog, useSecretWrite } from '../secret.tsx';
import { RoleChoices } from './roles.tsx';

export function InviteMember({ onClose }: { readonly onClose: () => void }) {
  const [email, setEmail] = useState('');
  const [isWrong, setWrong] = useState(false);
  const [role, setRole] = useState<Role>('developer');
  const byRole = useRole();
  const create = useSecretWrite<Invitation>('org/invitations');
  const { made } = create;
  if (made !== undefined) return <Made invitation={made} onClose={onClose} />;
  const address = email.trim();
  const submit = () => {
    const isSound = address === '' || /^[^@\s]+@[^@\s]+$/.test(address);
    setWrong(!isSound);
    if (isSound) void create.write({ role, ...(address === '' ? {} : { email: address }) });
  };
  return (
    <Dialog
      isOpen
      onOpenChange={onClose}
      title="Invite a member"
      description="You get a link to hand over yourself: Sandbank sends no e-mail."
      submitLabel="Create and copy link"
      onSubmit={submit}
      isBusy={create.isBusy}
      problem={isAbout(create.problem, 'email') ? null : create.problem}
    >
      <Field
        label="Email"
        isOptional
        hint="Then only this address can use the link. Without one, the first person who has it can."
        error={isWrong ? 'This is no e-mail address.' : undefined}
        problem={create.problem}
        param="email"
      >
        <Input
          type="email"
          autoComplete="off"
          maxLength={254}
          value={email}
          onChange={(event) => setEmail(event.currentTarget.value)}
        />
      </Field>
      <RoleChoices role={role} byRole={byRole} onChange={setRole} />
    </Dialog>
  );
}

function Made({ invitation, onClose }: { readonly invitation: Invitation; readonly onClose: () => void }) {
  const { toast } = useToast();
  const { url = '', email, role, expiresAt } = invitation;
  useEffect(() => {
    // A browser may refuse; the button beside the link is still there.
    void copyText(url).then((isCopied) => isCopied && toast('Invitation link copied'));
  }, [url, toast]);
  return (
    <SecretDialog
      title="Invitation created"
      description={email === null ? `For anybody with the link, as ${role}` : `For ${email}, as ${role}`}
      what="invitation link"
      secret={url}
      onClose={onClose}
    >
      <p className="text-muted">
        It works once and ends <Time at={expiresAt} kind="wall" show="both" />.
      </p>
    </SecretDialog>
  );
}
