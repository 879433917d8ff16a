import { useId } from 'react';
import { useCapabilities } from '../../client/currencies.ts';
import type { ApiProblem } from '../../client/request.ts';
import { Checkbox, Field, Input, Select } from '../../parts/field.tsx';
import type { ActionDraft, ActionField } from './action-fields.ts';
import { AmountField } from './amount-field.tsx';
import { BeneficiaryFields } from './beneficiary-fields.tsx';
import { Rows } from './rows.tsx';

/** What a form has to know of the record: its currency and how much can be asked for. */
export interface Money {
  readonly currency: string;
  readonly amountCapturable?: number;
  readonly amountRefundable?: number;
  readonly disputable?: number;
}

export interface ActionFormProps {
  readonly fields: readonly ActionField[];
  readonly draft: ActionDraft;
  readonly onChange: (draft: ActionDraft) => void;
  readonly money: Money;
  readonly hasBeneficiary: boolean;
  readonly problem: ApiProblem | null;
}

export function ActionForm({ fields, ...rest }: ActionFormProps) {
  return fields.map((field) => <One key={field.kind} field={field} {...rest} />);
}

type OneProps = Omit<ActionFormProps, 'fields'> & { readonly field: ActionField };

function One({ field, draft, onChange, money, hasBeneficiary, problem }: OneProps) {
  const put = (part: Partial<ActionDraft>) => onChange({ ...draft, ...part });
  switch (field.kind) {
    case 'amount': {
      const most = money[field.most];
      return (
        <AmountField
          currency={money.currency}
          text={draft.amount}
          onChange={(amount) => put({ amount })}
          isOptional
          problem={problem}
          {...(most === undefined || most === 0 ? {} : { most })}
        />
      );
    }
    case 'final':
      return (
        <Checkbox
          label="Final capture"
          hint="What is not captured is released, and nothing more can be captured."
          isOn={draft.isFinal}
          onChange={(isFinal) => put({ isFinal })}
        />
      );
    case 'reason':
      return (
        <Field label="Reason" isOptional problem={problem} param="reason">
          <Input
            maxLength={200}
            value={draft.reason}
            onChange={(event) => put({ reason: event.currentTarget.value })}
          />
        </Field>
      );
    case 'metadata':
      return (
        <Rows
          label="Metadata"
          param="metadata"
          rows={draft.rows}
          onChange={(rows) => put({ rows })}
          rowsMax={50}
          valueMax={500}
          problem={problem}
        />
      );
    case 'evidence':
      return (
        <Rows
          label="Evidence"
          param="evidence"
          hint="What speaks for you, under names of your own: receipt, tracking number, correspondence."
          rows={draft.rows}
          onChange={(rows) => put({ rows })}
          rowsMax={20}
          valueMax={2000}
          problem={problem}
        />
      );
    case 'beneficiary':
      return (
        <BeneficiaryFields
          draft={draft.beneficiary}
          onChange={(beneficiary) => put({ beneficiary })}
          hint={
            hasBeneficiary
              ? 'Leave it empty to keep the one it has.'
              : 'A name is needed before it is accepted.'
          }
          problem={problem}
        />
      );
    case 'declineCode':
      return <DeclineCode code={draft.code} onChange={(code) => put({ code })} problem={problem} />;
    default:
      return (
        <FreeCode kind={field.kind} code={draft.code} onChange={(code) => put({ code })} problem={problem} />
      );
  }
}

interface CodeProps {
  readonly code: string;
  readonly onChange: (code: string) => void;
  readonly problem: ApiProblem | null;
}

function DeclineCode({ code, onChange, problem }: CodeProps) {
  const codes = useCapabilities()?.declineCodes ?? [];
  const chosen = codes.find((one) => one.code === code);
  const words =
    chosen && `${chosen.message} ${chosen.retryable ? 'Soft: it can be retried.' : 'Hard: no retry.'}`;
  return (
    <Field
      label="Failure code"
      isOptional
      problem={problem}
      param="failureCode"
      hint={words ?? 'Without one, the code of the scenario is taken.'}
    >
      <Select
        empty="As the scenario says"
        options={codes.map((one) => one.code)}
        value={code}
        onChange={(event) => onChange(event.currentTarget.value)}
      />
    </Field>
  );
}

/** Transfers take codes of one's own as well: the known ones are suggested. */
function FreeCode({
  kind,
  code,
  onChange,
  problem,
}: CodeProps & { readonly kind: 'failureCode' | 'returnCode' }) {
  const capabilities = useCapabilities();
  const codes =
    (kind === 'returnCode' ? capabilities?.returnCodes : capabilities?.transferFailureCodes) ?? [];
  const list = useId();
  const words = codes.find((one) => one.code === code)?.message;
  return (
    <Field
      label={kind === 'returnCode' ? 'Return code' : 'Failure code'}
      isOptional
      problem={problem}
      param={kind}
      hint={words ?? 'Choose a known one or write your own, of letters, digits and underscores.'}
    >
      <Input
        isMono
        list={list}
        autoComplete="off"
        maxLength={40}
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
