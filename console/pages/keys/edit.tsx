import { useState } from 'react';
import { useWrite } from '../../client/queries.ts';
import type { ApiKey, ListedApiKey } from '../../generated/shapes.ts';
import { Dialog } from '../../parts/dialog.tsx';
import { useToast } from '../../parts/toast.tsx';
import { changesOf, draftOf } from './draft.ts';
import { KeyFields } from './form.tsx';

export interface KeyDialogProps {
  readonly apiKey: ListedApiKey;
  readonly onClose: () => void;
}

export function EditKey({ apiKey, onClose }: KeyDialogProps) {
  const { toast } = useToast();
  const [draft, setDraft] = useState(() => draftOf(apiKey));
  const save = useWrite<ApiKey>(`app/api_keys/${apiKey.id}/update`, {
    onDone: ({ name }) => {
      toast(`${name} saved`);
      onClose();
    },
  });
  const changes = changesOf(apiKey, draft);
  return (
    <Dialog
      isOpen
      onOpenChange={onClose}
      size="large"
      title="Edit API key"
      description={`${apiKey.name} …${apiKey.lastFour}`}
      // Without a change there is nothing to save.
      onSubmit={() => (Object.keys(changes).length === 0 ? onClose() : void save.write(changes))}
      isBusy={save.isBusy}
      problem={save.problem}
    >
      <KeyFields draft={draft} onChange={setDraft} />
    </Dialog>
  );
}
