import { useState } from 'react';
import { useExponent } from '../../client/currencies.ts';
import { useWrite } from '../../client/queries.ts';
import type { ApiProblem, Path } from '../../client/request.ts';
import { Dialog } from '../../parts/dialog.tsx';
import { isAbout } from '../../parts/field.tsx';
import { sentence } from '../../parts/words.ts';
import {
  type ActionDraft,
  bodyOf,
  emptyDraft,
  fieldsOfAction,
  paramOf,
  type Resource,
} from './action-fields.ts';
import { ActionForm, type Money } from './action-form.tsx';

export interface ActionDialogProps {
  readonly resource: Resource;
  readonly action: string;
  readonly path: Path;
  readonly money: Money;
  readonly hasBeneficiary: boolean;
  readonly onDone: (answer: { readonly object: string; readonly status: string }) => void;
  readonly onClose: () => void;
}

/** What no field of the form says has to be said by the banner. */
export function unsaid(problem: ApiProblem | null, params: readonly string[]): ApiProblem | null {
  return params.some((param) => isAbout(problem, param)) ? null : problem;
}

/** One action with exactly the fields that it takes. */
export function ActionDialog(props: ActionDialogProps) {
  const { resource, action, path, money, hasBeneficiary, onDone, onClose } = props;
  const [draft, setDraft] = useState<ActionDraft>(emptyDraft);
  const exponent = useExponent(money.currency);
  const write = useWrite<{ object: string; status: string }>(path, { onDone });
  const fields = fieldsOfAction(resource, action);
  const body = bodyOf(fields, draft, exponent);
  // The endpoint of refunds takes no action: it makes the refund and answers with it.
  const whole = path.endsWith('/refund') ? body : { action, ...body };
  return (
    <Dialog
      isOpen
      onOpenChange={onClose}
      title={sentence(action)}
      submitLabel={sentence(action)}
      onSubmit={() => body && void write.write(whole)}
      isBusy={write.isBusy}
      isSubmitDisabled={body === undefined}
      problem={unsaid(write.problem, fields.map(paramOf))}
    >
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
