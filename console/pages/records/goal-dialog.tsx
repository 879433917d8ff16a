import { useState } from 'react';
import { useExponent } from '../../client/currencies.ts';
import { useWrite } from '../../client/queries.ts';
import { Dialog } from '../../parts/dialog.tsx';
import { Field, Select } from '../../parts/field.tsx';
import { sentence } from '../../parts/words.ts';
import { type ActionDialogProps, unsaid } from './action-dialog.tsx';
import { type ActionDraft, bodyOf, emptyDraft, fieldsOfGoal, paramOf } from './action-fields.ts';
import { ActionForm } from './action-form.tsx';

type GoalDialogProps = Omit<ActionDialogProps, 'action'> & { readonly states: readonly string[] };

/** `{to}`: the server takes the shortest way to a state, all of it or nothing. */
export function GoalDialog({
  resource,
  states,
  path,
  money,
  hasBeneficiary,
  onDone,
  onClose,
}: GoalDialogProps) {
  const [to, setTo] = useState('');
  const [draft, setDraft] = useState<ActionDraft>(emptyDraft);
  const exponent = useExponent(money.currency);
  const write = useWrite<{ object: string; status: string }>(path, { onDone });
  const fields = fieldsOfGoal(resource, to);
  const body = bodyOf(fields, draft, exponent);
  return (
    <Dialog
      isOpen
      onOpenChange={onClose}
      title="Go to state"
      description="The shortest way is walked: every step is a move with its events and ledger entries."
      submitLabel="Go"
      onSubmit={() => body && to !== '' && void write.write({ to, ...body })}
      isBusy={write.isBusy}
      isSubmitDisabled={to === '' || body === undefined}
      problem={unsaid(write.problem, fields.map(paramOf))}
    >
      <Field label="State">
        <Select
          empty="Choose a state"
          options={states.map((state) => ({ value: state, label: sentence(state) }))}
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
        problem={write.problem}
      />
    </Dialog>
  );
}
