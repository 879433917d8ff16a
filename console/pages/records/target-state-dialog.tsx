import { useState } from 'react';
import { useCapabilities } from '../../client/capabilities.ts';
import { useWrite } from '../../client/queries.ts';
import { Dialog } from '../../parts/dialog.tsx';
import { Field, Select } from '../../parts/field.tsx';
import { sentenceCase } from '../../parts/text.ts';
import type { ActionDialogProps } from './action-dialog.tsx';
import { type ActionDraft, bodyOf, emptyDraft, fieldsOfTargetState } from './action-draft.ts';
import { ActionForm } from './action-form.tsx';

type TargetStateDialogProps = Omit<ActionDialogProps, 'action'> & { readonly states: readonly string[] };

/** Sends `{to}`: the server takes the shortest path to the state, in one transaction. */
export function TargetStateDialog({
  resource,
  states,
  path,
  money,
  hasBeneficiary,
  onDone,
  onClose,
}: TargetStateDialogProps) {
  const [to, setTo] = useState('');
  const [draft, setDraft] = useState<ActionDraft>(emptyDraft);
  const write = useWrite<{ object: string; status: string }>(path, { onDone });
  const fields = fieldsOfTargetState(useCapabilities()?.resources ?? [], resource, to);
  const rest = bodyOf(fields, draft, money.currency);
  const body = rest === undefined || to === '' ? undefined : { to, ...rest };
  return (
    <Dialog
      isOpen
      onOpenChange={onClose}
      title="Go to state"
      description="Takes the shortest path: every step is a transition with its events and ledger entries."
      submitLabel="Go"
      onSubmit={() => body && void write.write(body)}
      isBusy={write.isBusy}
      problem={write.problem}
      code={write.request(body)}
    >
      <Field label="State" param="to" missing={to === '' ? 'Choose a state.' : undefined}>
        <Select
          empty="Choose a state"
          options={states.map((state) => ({ value: state, label: sentenceCase(state) }))}
          value={to}
          onChange={(event) => {
            setTo(event.currentTarget.value);
            setDraft(emptyDraft);
          }}
        />
      </Field>
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
