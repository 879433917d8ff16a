import { useId } from 'react';
import { useCapabilities, useLimits } from '../../client/capabilities.ts';
import { Checkbox, Field, Input, Select } from '../../parts/field.tsx';
import type { ActionDraft, ActionField } from './action-draft.ts';
import { AmountField } from './amount-field.tsx';
import { BeneficiaryFields } from './beneficiary-fields.tsx';
import { Rows } from './rows.tsx';

/** The record's currency and the maximum amounts of its actions. */
export interface ActionMoney {
  readonly currency: string;
  readonly amountCapturable?: number;
  readonly amountRefundable?: number;
}

export interface ActionFormProps {
  readonly fields: readonly ActionField[];
  readonly draft: ActionDraft;
  readonly onChange: (draft: ActionDraft) => void;
  readonly money: ActionMoney;
  readonly hasBeneficiary: boolean;
}

export function ActionForm({ fields, ...rest }: ActionFormProps) {
  return fields.map((field) => <ActionInput key={field.kind} field={field} {...rest} />);
}

type ActionInputProps = Omit<ActionFormProps, 'fields'> & { readonly field: ActionField };

function ActionInput({ field, draft, onChange, money, hasBeneficiary }: ActionInputProps) {
  const limits = useLimits();
  const change = (part: Partial<ActionDraft>) => onChange({ ...draft, ...part });
  switch (field.kind) {
    case 'amount': {
      const maximum = field.maximum && money[field.maximum];
      return (
        <AmountField
          currency={money.currency}
          text={draft.amount}
          onChange={(amount) => change({ amount })}
          isOptional
          {...(maximum === undefined || maximum === 0 ? {} : { maximum })}
        />
      );
    }
    case 'final':
      return (
        <Checkbox
          label="Final capture"
          hint="Releases the remaining amount; no further captures are possible."
          isOn={draft.isFinal}
          onChange={(isFinal) => change({ isFinal })}
        />
      );
    case 'reason':
      return (
        <Field label="Reason" isOptional param="reason">
          <Input
            maxLength={limits.reasonLengthMax}
            value={draft.reason}
            onChange={(event) => change({ reason: event.currentTarget.value })}
          />
        </Field>
      );
    case 'metadata':
      return (
        <Rows label="Metadata" param="metadata" rows={draft.rows} onChange={(rows) => change({ rows })} />
      );
    case 'evidence':
      return (
        <Rows
          label="Evidence"
          param="evidence"
          hint="Evidence as named fields: receipt, tracking number, correspondence."
          rows={draft.rows}
          onChange={(rows) => change({ rows })}
        />
      );
    case 'beneficiary':
      return (
        <BeneficiaryFields
          draft={draft.beneficiary}
          onChange={(beneficiary) => change({ beneficiary })}
          hint={
            hasBeneficiary
              ? 'Leave empty to use the existing beneficiary.'
              : 'A name is required before the quote is accepted.'
          }
        />
      );
    case 'declineCode':
      return <DeclineCode code={draft.code} onChange={(code) => change({ code })} />;
    default:
      return <FreeCode kind={field.kind} code={draft.code} onChange={(code) => change({ code })} />;
  }
}

interface CodeProps {
  readonly code: string;
  readonly onChange: (code: string) => void;
}

function DeclineCode({ code, onChange }: CodeProps) {
  const codes = useCapabilities()?.declineCodes ?? [];
  const chosen = codes.find((one) => one.code === code);
  const hint = chosen && `${chosen.message} ${chosen.retryable ? 'Can be retried.' : 'Cannot be retried.'}`;
  return (
    <Field
      label="Failure code"
      isOptional
      param="failureCode"
      hint={hint ?? 'Default: the code of the scenario.'}
    >
      <Select
        empty="From the scenario"
        options={codes.map((one) => one.code)}
        value={code}
        onChange={(event) => onChange(event.currentTarget.value)}
      />
    </Field>
  );
}

/** A code input with suggestions: transfers also accept custom codes. */
function FreeCode({ kind, code, onChange }: CodeProps & { readonly kind: 'failureCode' | 'returnCode' }) {
  const capabilities = useCapabilities();
  const codes =
    (kind === 'returnCode' ? capabilities?.returnCodes : capabilities?.transferFailureCodes) ?? [];
  const list = useId();
  const hint = codes.find((one) => one.code === code)?.message;
  return (
    <Field
      label={kind === 'returnCode' ? 'Return code' : 'Failure code'}
      isOptional
      param={kind}
      hint={hint ?? 'Select a known code or enter your own: letters, digits and underscores.'}
    >
      <Input
        isMono
        list={list}
        autoComplete="off"
        maxLength={useLimits().reasonCodeLengthMax}
        value={code}
        onChange={(event) => onChange(event.currentTarget.value)}
      />
      <datalist id={list}>
        {codes.map((one) => (
          <option key={one.code} value={one.code}>
            {one.message}
          </option>
        ))}
      </datalist>
    </Field>
  );
}
