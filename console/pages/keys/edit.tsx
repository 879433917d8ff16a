import { useWrite } from '../../client/queries.ts';
import type { ApiKey, ListedApiKey } from '../../generated/shapes.ts';
import { Dialog } from '../../parts/dialog.tsx';
import { problemOutsideFields } from '../../parts/field.tsx';
import { focusInvalidField } from '../../parts/focus-invalid-field.ts';
import { useToast } from '../../parts/toast.tsx';
import { changesOf, draftOf } from './draft.ts';
import { KeyFields, params, useKeyDraft } from './form.tsx';

export interface KeyDialogProps {
  readonly apiKey: ListedApiKey;
  readonly onClose: () => void;
}

export function EditKey({ apiKey, onClose }: KeyDialogProps) {
  const { toast } = useToast();
  const form = useKeyDraft(draftOf(apiKey));
  const save = useWrite<ApiKey>(`app/api_keys/${apiKey.id}/update`, {
    onDone: ({ name }) => {
      toast(`${name} saved`);
      onClose();
    },
  });
  const changes = changesOf(apiKey, form.draft);
  return (
    <Dialog
      isOpen
      onOpenChange={onClose}
      size="large"
      title="Edit API key"
      description={`${apiKey.name} …${apiKey.lastFour}`}
      onSubmit={() => {
        if (!form.check()) return;
        // Without a change there is nothing to save.
        if (Object.keys(changes).length === 0) onClose();
        else void save.write(changes).then(focusInvalidField);
      }}
      isBusy={save.isBusy}
      problem={problemOutsideFields(save.problem, params)}
    >
      <KeyFields form={form} problem={save.problem} />
    </Dialog>
  );
}
