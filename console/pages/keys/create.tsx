import type { ApiKey } from '../../client/shapes.ts';
import { Dialog } from '../../parts/dialog.tsx';
import { focusFault } from '../fault.ts';
import { useSecretWrite } from '../secret.tsx';
import { networksOf, newDraft } from './draft.ts';
import { KeyFields, unshown, useKeyDraft } from './form.tsx';
import { MadeKey } from './made.tsx';

export function CreateKey({ onClose }: { readonly onClose: () => void }) {
  const form = useKeyDraft(newDraft);
  const create = useSecretWrite<ApiKey>('app/api_keys');
  const { made } = create;
  if (made !== undefined) return <MadeKey title="API key created" made={made} onClose={onClose} />;
  const submit = () => {
    if (!form.check()) return;
    const { name, scopes, expiresAt, mayReset } = form.draft;
    const allowedCidrs = networksOf(form.draft);
    const sent = create.write({
      name: name.trim(),
      scopes,
      ...(expiresAt === null ? {} : { expiresAt }),
      ...(allowedCidrs.length === 0 ? {} : { allowedCidrs }),
      ...(mayReset ? { mayReset } : {}),
    });
    void sent.then(focusFault);
  };
  return (
    <Dialog
      isOpen
      onOpenChange={onClose}
      size="large"
      title="Create API key"
      description="It acts for this application only, with the scopes that you give it."
      submitLabel="Create key"
      onSubmit={submit}
      isBusy={create.isBusy}
      problem={unshown(create.problem)}
    >
      <KeyFields form={form} problem={create.problem} />
    </Dialog>
  );
}
