import { useState } from 'react';
import { useWrite } from '../../client/queries.ts';
import type { Customer } from '../../client/shapes.ts';
import { Dialog } from '../../parts/dialog.tsx';
import { Field, Input } from '../../parts/field.tsx';
import { useToast } from '../../parts/toast.tsx';
import { unsaid } from '../records/action-dialog.tsx';
import { type Row, Rows, recordOf, rowsOf } from '../records/rows.tsx';

const texts = ['name', 'email', 'phone', 'reference'] as const;
type Text = (typeof texts)[number];

interface Draft extends Readonly<Record<Text, string>> {
  readonly metadata: readonly Row[];
}

function draftOf(customer: Customer | undefined): Draft {
  return {
    name: customer?.name ?? '',
    email: customer?.email ?? '',
    phone: customer?.phone ?? '',
    reference: customer?.reference ?? '',
    metadata: rowsOf(customer?.metadata ?? null),
  };
}

/** For a new customer what was filled in; for a known one what was changed, with null for what was emptied. */
function bodyOf(draft: Draft, customer: Customer | undefined): Record<string, unknown> {
  const body: Record<string, unknown> = {};
  for (const name of texts) {
    const value = draft[name].trim();
    if (value !== (customer?.[name] ?? '')) body[name] = value === '' ? null : value;
  }
  const metadata = recordOf(draft.metadata) ?? {};
  if (JSON.stringify(metadata) !== JSON.stringify(customer?.metadata ?? {})) body.metadata = metadata;
  return body;
}

export interface CustomerFormProps {
  /** The one to edit; without it a new one is made. */
  readonly customer?: Customer;
  readonly onClose: () => void;
  readonly onDone: (customer: Customer) => void;
}

export function CustomerForm({ customer, onClose, onDone }: CustomerFormProps) {
  const [draft, setDraft] = useState(() => draftOf(customer));
  const { toast } = useToast();
  const write = useWrite<Customer>(
    customer === undefined
      ? 'app/developer_api_customers'
      : `app/developer_api_customers/${customer.id}/update`,
    {
      onDone: (answer) => {
        toast(customer === undefined ? 'Customer created' : 'Customer saved');
        onDone(answer);
      },
    },
  );
  const body = bodyOf(draft, customer);
  const isNamed = draft.name.trim() !== '' || draft.email.trim() !== '';
  const { problem } = write;
  const text = (name: Text) => ({
    value: draft[name],
    onChange: (event: React.ChangeEvent<HTMLInputElement>) =>
      setDraft({ ...draft, [name]: event.currentTarget.value }),
  });
  return (
    <Dialog
      isOpen
      onOpenChange={onClose}
      title={customer === undefined ? 'Create customer' : 'Edit customer'}
      description="A name or an email is needed; the rest is yours to fill."
      submitLabel={customer === undefined ? 'Create customer' : 'Save'}
      onSubmit={() => void write.write(body)}
      isBusy={write.isBusy}
      isSubmitDisabled={!isNamed || Object.keys(body).length === 0}
      problem={unsaid(problem, [...texts, 'metadata'])}
    >
      <Field label="Name" problem={problem} param="name">
        <Input maxLength={200} autoComplete="off" {...text('name')} />
      </Field>
      <Field label="Email" problem={problem} param="email">
        <Input type="email" maxLength={254} autoComplete="off" {...text('email')} />
      </Field>
      <div className="grid gap-4 sm:grid-cols-2">
        <Field label="Phone" isOptional problem={problem} param="phone">
          <Input type="tel" maxLength={32} autoComplete="off" {...text('phone')} />
        </Field>
        <Field label="Reference" isOptional problem={problem} param="reference">
          <Input maxLength={200} autoComplete="off" placeholder="Your own id" {...text('reference')} />
        </Field>
      </div>
      <Rows
        label="Metadata"
        param="metadata"
        rows={draft.metadata}
        onChange={(metadata) => setDraft({ ...draft, metadata })}
        rowsMax={50}
        valueMax={500}
        problem={problem}
      />
    </Dialog>
  );
}
