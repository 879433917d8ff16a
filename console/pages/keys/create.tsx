import { useState } from 'react';
import type { ApiKeyWithSecret } from '../../generated/shapes.ts';
import { Dialog } from '../../parts/dialog.tsx';
import { useSecretWrite } from '../secret.tsx';
import { CreatedKey } from './created-key.tsx';
import { networksOf, newDraft } from './draft.ts';
import { KeyFields } from './form.tsx';

export function CreateKey({ onClose }: { readonly onClose: () => void }) {
  const [draft, setDraft] = useState(newDraft);
  const create = useSecretWrite<ApiKeyWithSecret>('app/api_keys');
  const { response } = create;
  if (response !== undefined)
    return <CreatedKey title="API key created" created={response} onClose={onClose} />;
  const submit = () => {
    const { name, scopes, expiresAt, mayReset } = draft;
    const allowedCidrs = networksOf(draft);
    void create.write({
      name: name.trim(),
      scopes,
      ...(expiresAt === null ? {} : { expiresAt }),
      ...(allowedCidrs.length === 0 ? {} : { allowedCidrs }),
      ...(mayReset ? { mayReset } : {}),
    });
  };
  return (
    <Dialog
      isOpen
      onOpenChange={onClose}
      size="large"
      title="Create API key"
      description="It is valid for this application only, with the selected scopes."
      submitLabel="Create key"
      onSubmit={submit}
      isBusy={create.isBusy}
      problem={create.problem}
    >
      <KeyFields draft={draft} onChange={setDraft} />
    </Dialog>
  );
}
