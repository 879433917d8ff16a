import { useState } from 'react';
import { useCapabilities, useLimits } from '../../client/capabilities.ts';
import { useOpenCreated } from '../../client/filters.ts';
import { useWrite } from '../../client/queries.ts';
import type { Transfer } from '../../generated/shapes.ts';
import { Dialog } from '../../parts/dialog.tsx';
import { Field, Input, Select, Switch } from '../../parts/field.tsx';
import { useToast } from '../../parts/toast.tsx';
import { AmountField } from '../records/amount-field.tsx';
import { BeneficiaryFields } from '../records/beneficiary-fields.tsx';
import { CustomerField } from '../records/customer-field.tsx';
import { Rows } from '../records/rows.tsx';
import { ScenarioField } from '../records/scenario-field.tsx';
import { amountCurrency, bodyOf, type Draft, emptyDraft } from './draft.ts';
import { QuotePreview } from './quote-preview.tsx';

const funding = [
  { value: 'external', label: 'External' },
  { value: 'balance', label: 'From the available balance' },
];

/** Requests a quote and opens its page. */
export function TransferCreate({ onClose }: { readonly onClose: () => void }) {
  const [draft, setDraft] = useState(emptyDraft);
  const limits = useLimits();
  const change = (part: Partial<Draft>) => setDraft({ ...draft, ...part });
  const { toast } = useToast();
  const openCreated = useOpenCreated();
  const create = useWrite<Transfer>('app/developer_api_transfers', {
    onDone: ({ id }) => {
      toast('Transfer quoted');
      void openCreated(`transfers/${id}`);
    },
  });
  const body = bodyOf(draft);
  const { problem } = create;
  return (
    <Dialog
      isOpen
      onOpenChange={onClose}
      size="large"
      title="Create transfer"
      description="Returns a quote: its rate and amounts are fixed until it expires."
      submitLabel="Get quote"
      onSubmit={() => body && void create.write(body)}
      isBusy={create.isBusy}
      problem={problem}
      code={create.request(body)}
    >
      <QuoteFields draft={draft} onChange={change} />
      <QuotePreview draft={draft} />
      <BeneficiaryFields
        draft={draft.beneficiary}
        onChange={(beneficiary) => change({ beneficiary })}
        hint="Optional until the quote is accepted."
      />
      <ScenarioField resource="transfer" steps={draft.steps} onChange={(steps) => change({ steps })} />
      <div className="grid gap-4 sm:grid-cols-2">
        <Field label="Funding" param="fundFrom">
          <Select
            value={draft.fundFrom}
            options={funding}
            onChange={(event) => change({ fundFrom: event.currentTarget.value })}
          />
        </Field>
        <CustomerField id={draft.customerId} onChange={(customerId) => change({ customerId })} />
      </div>
      <Field label="Reference" isOptional param="reference">
        <Input
          maxLength={limits.referenceLengthMax}
          placeholder="Your id"
          value={draft.reference}
          onChange={(event) => change({ reference: event.currentTarget.value })}
        />
      </Field>
      <Switch
        label="Advance automatically"
        hint="Once accepted, it runs its scenario on the application clock."
        isOn={draft.isAutomatic}
        onChange={(isAutomatic) => change({ isAutomatic })}
      />
      <Rows
        label="Metadata"
        param="metadata"
        rows={draft.metadata}
        onChange={(metadata) => change({ metadata })}
      />
    </Dialog>
  );
}

interface QuoteFieldsProps {
  readonly draft: Draft;
  readonly onChange: (part: Partial<Draft>) => void;
}

function QuoteFields({ draft, onChange }: QuoteFieldsProps) {
  const codes = useCapabilities()?.fxCurrencies ?? [draft.source, draft.target];
  return (
    <div className="grid gap-4 sm:grid-cols-2">
      <Field label="Source currency" param="sourceCurrency">
        <Select
          value={draft.source}
          options={codes}
          onChange={(event) => onChange({ source: event.currentTarget.value })}
        />
      </Field>
      <Field label="Target currency" param="targetCurrency">
        <Select
          value={draft.target}
          options={codes}
          onChange={(event) => onChange({ target: event.currentTarget.value })}
        />
      </Field>
      <Field label="Amount in" param={null}>
        <Select
          value={draft.side}
          options={[
            { value: 'source', label: 'Source currency (sent)' },
            { value: 'target', label: 'Target currency (received)' },
          ]}
          onChange={(event) =>
            onChange({ side: event.currentTarget.value === 'target' ? 'target' : 'source' })
          }
        />
      </Field>
      <AmountField
        currency={amountCurrency(draft)}
        text={draft.amount}
        onChange={(amount) => onChange({ amount })}
        param={draft.side === 'source' ? 'sourceAmount' : 'targetAmount'}
      />
    </div>
  );
}
