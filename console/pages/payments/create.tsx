import { useState } from 'react';
import { useCurrencies, useLimits } from '../../client/capabilities.ts';
import { useOpenCreated } from '../../client/filters.ts';
import { useWrite } from '../../client/queries.ts';
import type { Payment } from '../../generated/shapes.ts';
import { Dialog } from '../../parts/dialog.tsx';
import { Field, Input, Select, Switch } from '../../parts/field.tsx';
import { optionsOf } from '../../parts/options.ts';
import { useToast } from '../../parts/toast.tsx';
import { AmountField } from '../records/amount-field.tsx';
import { CustomerField } from '../records/customer-field.tsx';
import { Rows } from '../records/rows.tsx';
import { ScenarioField } from '../records/scenario-field.tsx';
import { bodyOf, type Draft, draftLike, emptyDraft } from './draft.ts';

const captureMethods = optionsOf<Payment['captureMethod']>({
  automatic: 'Automatic',
  manual: 'Manual, after authorization',
});
const methods = optionsOf<Payment['paymentMethod']['type']>({
  card: 'Card',
  bank_debit: 'Bank debit',
  bank_transfer: 'Bank transfer',
  wallet: 'Wallet',
});

export interface PaymentCreateProps {
  readonly onClose: () => void;
  readonly customerId?: string;
  /** The payment whose fields the form starts with. */
  readonly like?: Payment;
}

/** Creates a payment and opens its page. */
export function PaymentCreate({ onClose, customerId = '', like }: PaymentCreateProps) {
  const [draft, setDraft] = useState(() => (like === undefined ? emptyDraft(customerId) : draftLike(like)));
  const change = (part: Partial<Draft>) => setDraft({ ...draft, ...part });
  const currencies = useCurrencies();
  const limits = useLimits();
  const { toast } = useToast();
  const openCreated = useOpenCreated();
  const create = useWrite<Payment>('app/developer_api_payments', {
    onDone: ({ id }) => {
      toast('Payment created');
      void openCreated(`payments/${id}`);
    },
  });
  const body = bodyOf(draft);
  const { problem } = create;
  return (
    <Dialog
      isOpen
      onOpenChange={onClose}
      size="large"
      title="Create payment"
      description="No real money moves. The scenario determines what the simulated provider does."
      submitLabel="Create payment"
      onSubmit={() => body && void create.write(body)}
      isBusy={create.isBusy}
      problem={problem}
      code={create.request(body)}
    >
      <div className="grid gap-4 sm:grid-cols-2">
        <AmountField
          currency={draft.currency}
          text={draft.amount}
          onChange={(amount) => change({ amount })}
        />
        <Field label="Currency" param="currency">
          <Select
            value={draft.currency}
            options={
              currencies.length === 0
                ? [draft.currency]
                : currencies.map(({ code, name }) => ({ value: code, label: `${code}, ${name}` }))
            }
            onChange={(event) => change({ currency: event.currentTarget.value })}
          />
        </Field>
        <Field label="Payment method" param="paymentMethod.type">
          <Select
            value={draft.method}
            options={methods}
            onChange={(event) => change({ method: event.currentTarget.value })}
          />
        </Field>
        <Field label="Capture" param="captureMethod">
          <Select
            value={draft.captureMethod}
            options={captureMethods}
            onChange={(event) => change({ captureMethod: event.currentTarget.value })}
          />
        </Field>
      </div>
      <ScenarioField resource="payment" steps={draft.steps} onChange={(steps) => change({ steps })} />
      <Switch
        label="Advance automatically"
        hint="Runs its scenario on the application clock, without calls to advance."
        isOn={draft.isAutomatic}
        onChange={(isAutomatic) => change({ isAutomatic })}
      />
      <div className="grid gap-4 sm:grid-cols-2">
        <CustomerField id={draft.customerId} onChange={(id) => change({ customerId: id })} />
        <Field label="Reference" isOptional param="reference">
          <Input
            maxLength={limits.referenceLengthMax}
            placeholder="Your id"
            value={draft.reference}
            onChange={(event) => change({ reference: event.currentTarget.value })}
          />
        </Field>
      </div>
      <Field label="Description" isOptional param="description">
        <Input
          maxLength={limits.descriptionLengthMax}
          value={draft.description}
          onChange={(event) => change({ description: event.currentTarget.value })}
        />
      </Field>
      <Rows
        label="Metadata"
        param="metadata"
        rows={draft.metadata}
        onChange={(metadata) => change({ metadata })}
      />
    </Dialog>
  );
}
