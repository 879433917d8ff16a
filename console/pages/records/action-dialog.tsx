import { useState } from 'react';
import { useCapabilities } from '../../client/capabilities.ts';
import { useWrite } from '../../client/queries.ts';
import type { Path } from '../../client/request.ts';
import { Dialog } from '../../parts/dialog.tsx';
import { sentenceCase } from '../../parts/text.ts';
import { type ActionDraft, bodyOf, emptyDraft, fieldsOfAction, type Resource } from './action-draft.ts';
import { ActionForm, type ActionMoney } from './action-form.tsx';

export interface ActionDialogProps {
  readonly resource: Resource;
  readonly action: string;
  readonly path: Path;
  readonly money: ActionMoney;
  readonly hasBeneficiary: boolean;
  readonly onDone: (record: { readonly object: string; readonly status: string }) => void;
  readonly onClose: () => void;
}

/** A dialog for one action, with the fields that the action takes. */
export function ActionDialog(props: ActionDialogProps) {
  const { resource, action, path, money, hasBeneficiary, onDone, onClose } = props;
  const [draft, setDraft] = useState<ActionDraft>(emptyDraft);
  const write = useWrite<{ object: string; status: string }>(path, { onDone });
  const fields = fieldsOfAction(useCapabilities()?.resources ?? [], resource, action);
  const body = bodyOf(fields, draft, money.currency);
  // The refund endpoint has no `action`: it creates the refund and returns it.
  const whole = body === undefined || path.endsWith('/refund') ? body : { action, ...body };
  return (
    <Dialog
      isOpen
      onOpenChange={onClose}
      title={sentenceCase(action)}
      submitLabel={sentenceCase(action)}
      onSubmit={() => whole && void write.write(whole)}
      isBusy={write.isBusy}
      problem={write.problem}
      code={write.request(whole)}
    >
      <ActionForm
        fields={fields}
        draft={draft}
        onChange={setDraft}
        money={money}
        hasBeneficiary={hasBeneficiary}
      />
    </Dialog>
  );
}
