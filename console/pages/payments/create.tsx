import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { useCurrencies, useExponent } from '../../client/currencies.ts';
import { useWrite } from '../../client/queries.ts';
import { useScope } from '../../client/scope.ts';
import type { Payment } from '../../client/shapes.ts';
import { Dialog } from '../../parts/dialog.tsx';
import { Field, Input, Select, Switch } from '../../parts/field.tsx';
import { useToast } from '../../parts/toast.tsx';
import { unsaid } from '../records/action-dialog.tsx';
import { AmountField } from '../records/amount-field.tsx';
import { CustomerField } from '../records/customer-field.tsx';
import { Rows } from '../records/rows.tsx';
import { ScenarioField } from '../records/scenario-field.tsx';
import { bodyOf, type Draft, emptyDraft } from './draft.ts';

const captureMethods = [
  { value: 'automatic', label: 'Automatic' },
  { value: 'manual', label: 'Manual, after it is authorized' },
];
const methods = [
  { value: 'card', label: 'Card' },
  { value: 'bank_debit', label: 'Bank debit' },
  { value: 'bank_transfer', label: 'Bank transfer' },
  { value: 'wallet', label: 'Wallet' },
];
const params = ['amount', 'currency', 'customerId', 'description', 'reference', 'metadata', 'scenario'];

export interface PaymentCreateProps {
  readonly onClose: () => void;
  readonly customerId?: string;
}

/** Makes a payment and goes to its page. */
export function PaymentCreate({ onClose, customerId = '' }: PaymentCreateProps) {
  const [draft, setDraft] = useState(() => emptyDraft(customerId));
  const put = (part: Partial<Draft>) => setDraft({ ...draft, ...part });
  const exponent = useExponent(draft.currency);
  const currencies = useCurrencies();
  const { toast } = useToast();
  const { orgId } = useScope();
  const navigate = useNavigate();
  const create = useWrite<Payment>('app/developer_api_payments', {
    onDone: ({ id }) => {
      toast('Payment created');
      void navigate({ to: `/${orgId}/payments/${id}` });
    },
  });
  const body = bodyOf(draft, exponent);
  const { problem } = create;
  return (
    <Dialog
      isOpen
      onOpenChange={onClose}
      size="large"
      title="Create payment"
      description="No real money moves. The scenario says what the simulated provider does."
      submitLabel="Create payment"
      onSubmit={() => body && void create.write(body)}
      isBusy={create.isBusy}
      isSubmitDisabled={body === undefined}
      problem={unsaid(problem, params)}
    >
      <div className="grid gap-4 sm:grid-cols-2">
        <AmountField
          currency={draft.currency}
          text={draft.amount}
          onChange={(amount) => put({ amount })}
          problem={problem}
        />
        <Field label="Currency" problem={problem} param="currency">
          <Select
            value={draft.currency}
            options={
              currencies.length === 0
                ? [draft.currency]
                : currencies.map(({ code, name }) => ({ value: code, label: `${code}, ${name}` }))
            }
            onChange={(event) => put({ currency: event.currentTarget.value })}
          />
        </Field>
        <Field label="Payment method">
          <Select
            value={draft.method}
            options={methods}
            onChange={(event) => put({ method: event.currentTarget.value })}
          />
        </Field>
        <Field label="Capture">
          <Select
            value={draft.captureMethod}
            options={captureMethods}
            onChange={(event) => put({ captureMethod: event.currentTarget.value })}
          />
        </Field>
      </div>
      <ScenarioField
        played="payment"
        steps={draft.steps}
        onChange={(steps) => put({ steps })}
        problem={problem}
      />
      <Switch
        label="Advance by itself"
        hint="It walks its scenario on the application’s clock, without calls to advance."
        isOn={draft.isAutomatic}
        onChange={(isAutomatic) => put({ isAutomatic })}
      />
      <div className="grid gap-4 sm:grid-cols-2">
        <CustomerField id={draft.customerId} onChange={(id) => put({ customerId: id })} problem={problem} />
        <Field label="Reference" isOptional problem={problem} param="reference">
          <Input
            maxLength={200}
            placeholder="Your own id for it"
            value={draft.reference}
            onChange={(event) => put({ reference: event.currentTarget.value })}
          />
        </Field>
      </div>
      <Field label="Description" isOptional problem={problem} param="description">
        <Input
          maxLength={500}
          value={draft.description}
          onChange={(event) => put({ description: event.currentTarget.value })}
        />
      </Field>
      <Rows
        label="Metadata"
        param="metadata"
        rows={draft.metadata}
        onChange={(metadata) => put({ metadata })}
        rowsMax={50}
        valueMax={500}
        problem={problem}
      />
    </Dialog>
  );
}
