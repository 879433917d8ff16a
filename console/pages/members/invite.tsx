import { useEffect, useState } from 'react';
import { useLimits } from '../../client/capabilities.ts';
import { copyText } from '../../client/clipboard.ts';
import { useRole } from '../../frame/session.tsx';
import type { InvitationWithLink, Role } from '../../generated/shapes.ts';
import { Dialog } from '../../parts/dialog.tsx';
import { Field, Input } from '../../parts/field.tsx';
import { Time } from '../../parts/time.tsx';
import { useToast } from '../../parts/toast.tsx';
import { SecretDialog, useSecretWrite } from '../secret.tsx';
import { RoleField } from './roles.tsx';

export function InviteMember({ onClose }: { readonly onClose: () => void }) {
  const [email, setEmail] = useState('');
  const [role, setRole] = useState<Role>('developer');
  const ownRole = useRole();
  const limits = useLimits();
  const create = useSecretWrite<InvitationWithLink>('org/invitations');
  const { response } = create;
  if (response !== undefined) return <InvitationCreated invitation={response} onClose={onClose} />;
  const address = email.trim();
  return (
    <Dialog
      isOpen
      onOpenChange={onClose}
      title="Invite a member"
      description="You get a link to share yourself: Sandbank sends no email."
      submitLabel="Create and copy link"
      onSubmit={() => void create.write({ role, ...(address === '' ? {} : { email: address }) })}
      isBusy={create.isBusy}
      problem={create.problem}
    >
      <Field
        label="Email"
        isOptional
        hint="With an address, only that person can use the link. Without one, the first person who opens it can."
        param="email"
      >
        <Input
          type="email"
          autoComplete="off"
          maxLength={limits.emailLengthMax}
          value={email}
          onChange={(event) => setEmail(event.currentTarget.value)}
        />
      </Field>
      <RoleField role={role} ownRole={ownRole} onChange={setRole} />
    </Dialog>
  );
}

function InvitationCreated({
  invitation,
  onClose,
}: {
  readonly invitation: InvitationWithLink;
  readonly onClose: () => void;
}) {
  const { toast } = useToast();
  const { url = '', email, role, expiresAt } = invitation;
  useEffect(() => {
    // The browser may deny clipboard access; the copy button next to the link remains.
    void copyText(url).then((isCopied) => isCopied && toast('Invitation link copied'));
  }, [url, toast]);
  return (
    <SecretDialog
      title="Invitation created"
      description={email === null ? `For anyone with the link, as ${role}` : `For ${email}, as ${role}`}
      what="invitation link"
      secret={url}
      onClose={onClose}
    >
      <p className="text-muted">
        It works once and expires <Time at={expiresAt} kind="wall" show="both" mayBeAhead />.
      </p>
    </SecretDialog>
  );
}
