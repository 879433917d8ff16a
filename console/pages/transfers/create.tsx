import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { useCapabilities, useExponent } from '../../client/currencies.ts';
import { useWrite } from '../../client/queries.ts';
import { useScope } from '../../client/scope.ts';
import type { Transfer } from '../../client/shapes.ts';
import { Dialog } from '../../parts/dialog.tsx';
import { Field, Input, Select, Switch } from '../../parts/field.tsx';
import { useToast } from '../../parts/toast.tsx';
import { unsaid } from '../records/action-dialog.tsx';
import { AmountField } from '../records/amount-field.tsx';
import { BeneficiaryFields } from '../records/beneficiary-fields.tsx';
import { CustomerField } from '../records/customer-field.tsx';
import { Rows } from '../records/rows.tsx';
import { ScenarioField } from '../records/scenario-field.tsx';
import { bodyOf, type Draft, emptyDraft } from './draft.ts';
import { Indication } from './indication.tsx';

const params = [
  'sourceAmount',
  'targetAmount',
  'sourceCurrency',
  'targetCurrency',
  'customerId',
  'beneficiary',
  'reference',
  'metadata',
  'scenario',
];
const funding = [
  { value: 'external', label: 'From outside' },
  { value: 'balance', label: 'From the available balance' },
];

/** Asks for a quote and goes to its page. */
export function TransferCreate({ onClose }: { readonly onClose: () => void }) {
  const [draft, setDraft] = useState(emptyDraft);
  const put = (part: Partial<Draft>) => setDraft({ ...draft, ...part });
  const currency = draft.side === 'source' ? draft.source : draft.target;
  const exponent = useExponent(currency);
  const known = useCapabilities();
  const codes = known?.fxCurrencies ?? [draft.source, draft.target];
  const { toast } = useToast();
  const { orgId } = useScope();
  const navigate = useNavigate();
  const create = useWrite<Transfer>('app/developer_api_transfers', {
    onDone: ({ id }) => {
      toast('Transfer quoted');
      void navigate({ to: `/${orgId}/transfers/${id}` });
    },
  });
  const body = bodyOf(draft, exponent);
  const { problem } = create;
  return (
    <Dialog
      isOpen
      onOpenChange={onClose}
      size="large"
      title="Create transfer"
      description="The answer is a quote: its rate and amounts hold until it expires."
      submitLabel="Get quote"
      onSubmit={() => body && void create.write(body)}
      isBusy={create.isBusy}
      isSubmitDisabled={body === undefined}
      problem={unsaid(problem, params)}
    >
      <div className="grid gap-4 sm:grid-cols-2">
        <Field label="Source currency" problem={problem} param="sourceCurrency">
          <Select
            value={draft.source}
            options={codes}
            onChange={(event) => put({ source: event.currentTarget.value })}
          />
        </Field>
        <Field label="Target currency" problem={problem} param="targetCurrency">
          <Select
            value={draft.target}
            options={codes}
            onChange={(event) => put({ target: event.currentTarget.value })}
          />
        </Field>
        <Field label="Amount of">
          <Select
            value={draft.side}
            options={[
              { value: 'source', label: 'The source: what is sent' },
              { value: 'target', label: 'The target: what arrives' },
            ]}
            onChange={(event) => put({ side: event.currentTarget.value === 'target' ? 'target' : 'source' })}
          />
        </Field>
        <AmountField
          currency={currency}
          text={draft.amount}
          onChange={(amount) => put({ amount })}
          problem={problem}
          param={draft.side === 'source' ? 'sourceAmount' : 'targetAmount'}
        />
      </div>
      <Indication source={draft.source} target={draft.target} />
      <BeneficiaryFields
        draft={draft.beneficiary}
        onChange={(beneficiary) => put({ beneficiary })}
        hint="Can be given later, at the latest when the quote is accepted."
        problem={problem}
      />
      <ScenarioField
        played="transfer"
        steps={draft.steps}
        onChange={(steps) => put({ steps })}
        problem={problem}
      />
      <div className="grid gap-4 sm:grid-cols-2">
        <Field label="Funding">
          <Select
            value={draft.fundFrom}
            options={funding}
            onChange={(event) => put({ fundFrom: event.currentTarget.value })}
          />
        </Field>
        <CustomerField
          id={draft.customerId}
          onChange={(customerId) => put({ customerId })}
          problem={problem}
        />
      </div>
      <Field label="Reference" isOptional problem={problem} param="reference">
        <Input
          maxLength={200}
          placeholder="Your own id for it"
          value={draft.reference}
          onChange={(event) => put({ reference: event.currentTarget.value })}
        />
      </Field>
      <Switch
        label="Advance by itself"
        hint="Once accepted it walks its scenario on the application’s clock."
        isOn={draft.isAutomatic}
        onChange={(isAutomatic) => put({ isAutomatic })}
      />
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
