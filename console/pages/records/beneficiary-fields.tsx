import { useLimits } from '../../client/capabilities.ts';
import type { Beneficiary } from '../../generated/shapes.ts';
import { Field, Input } from '../../parts/field.tsx';
import { useFieldProblem } from '../../parts/form-problem.tsx';

export interface BeneficiaryDraft {
  readonly name: string;
  readonly country: string;
  readonly account: string;
}

export const noBeneficiary: BeneficiaryDraft = { name: '', country: '', account: '' };

/** Undefined if nothing was entered; the server rejects a beneficiary without a name. */
export function beneficiaryOf({
  name,
  country,
  account,
}: BeneficiaryDraft): Partial<Beneficiary> | undefined {
  const filled = {
    ...(name.trim() === '' ? {} : { name: name.trim() }),
    ...(country.trim() === '' ? {} : { country: country.trim().toUpperCase() }),
    ...(account.trim() === '' ? {} : { account: account.trim() }),
  };
  return Object.keys(filled).length === 0 ? undefined : filled;
}

export interface BeneficiaryFieldsProps {
  readonly draft: BeneficiaryDraft;
  readonly onChange: (draft: BeneficiaryDraft) => void;
  readonly hint: string;
}

export function BeneficiaryFields({ draft, onChange, hint }: BeneficiaryFieldsProps) {
  const limits = useLimits();
  // If the beneficiary is missing, the server error refers to the whole object: show it at the name.
  const problem = useFieldProblem('beneficiary', 'Beneficiary');
  return (
    <fieldset className="flex flex-col gap-3">
      <legend className="mb-1 font-medium">Beneficiary</legend>
      <p className="text-sm text-muted">{hint}</p>
      <Field label="Name" error={problem} param="beneficiary.name">
        <Input
          autoComplete="off"
          maxLength={limits.nameLengthMax}
          value={draft.name}
          onChange={(event) => onChange({ ...draft, name: event.currentTarget.value })}
        />
      </Field>
      <div className="grid grid-cols-[6rem_minmax(0,1fr)] gap-3">
        <Field label="Country" param="beneficiary.country">
          <Input
            autoComplete="off"
            placeholder="DE"
            maxLength={2}
            value={draft.country}
            onChange={(event) => onChange({ ...draft, country: event.currentTarget.value })}
          />
        </Field>
        <Field label="Account" param="beneficiary.account">
          <Input
            isMono
            autoComplete="off"
            maxLength={limits.beneficiaryAccountLengthMax}
            value={draft.account}
            onChange={(event) => onChange({ ...draft, account: event.currentTarget.value })}
          />
        </Field>
      </div>
    </fieldset>
  );
}
