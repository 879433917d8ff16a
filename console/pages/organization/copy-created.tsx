import type { Fork } from '../../generated/shapes.ts';
import { Anchor } from '../../parts/anchor.tsx';
import { Button, buttonClass } from '../../parts/button.tsx';
import { Dialog } from '../../parts/dialog.tsx';
import { SecretDialog } from '../secret.tsx';

export interface CopyCreatedProps {
  /** A fork, or a restored snapshot. */
  readonly copy: Fork;
  readonly title: string;
  readonly onClose: () => void;
}

/** Shows the new keys and secrets once; without keys and webhooks there are none to show. */
export function CopyCreated({ copy, title, onClose }: CopyCreatedProps) {
  const { organization } = copy;
  const lines = secretsOf(copy);
  const open = (
    <Anchor to={`/${organization.id}`} search={{ app: undefined }} className={buttonClass()}>
      Open {organization.name}
    </Anchor>
  );
  if (lines.length === 0)
    return (
      <Dialog
        isOpen
        onOpenChange={onClose}
        title={title}
        footer={
          <>
            {open}
            <Button variant="primary" onClick={onClose}>
              Done
            </Button>
          </>
        }
      >
        <p>{organization.name} was created. Like the original, it has no API keys and no webhooks.</p>
      </Dialog>
    );
  return (
    <SecretDialog
      title={title}
      description={organization.name}
      what="keys and secrets"
      warning="This is the only time that the new API keys and webhook secrets are shown. Copy them now and store them safely."
      secret={lines.join('\n\n')}
      onClose={onClose}
      more={open}
    />
  );
}

/** The new API keys and webhook secrets, each below its name. */
export function secretsOf({ apiKeys, webhooks }: Fork): readonly string[] {
  return [
    ...apiKeys.flatMap(({ name, key }) => (key === undefined ? [] : `${name}\n${key}`)),
    ...webhooks.flatMap(({ url, secret }) => (secret === undefined ? [] : `${url}\n${secret}`)),
  ];
}
