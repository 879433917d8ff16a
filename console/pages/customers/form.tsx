import { useState } from 'react';
import { useLimits } from '../../client/capabilities.ts';
import { useWrite } from '../../client/queries.ts';
import type { Customer } from '../../generated/shapes.ts';
import { Dialog } from '../../parts/dialog.tsx';
import { Field, Input } from '../../parts/field.tsx';
import { useToast } from '../../parts/toast.tsx';
import { Rows } from '../records/rows.tsx';
import { bodyOf, draftOf, type Text } from './draft.ts';

export interface CustomerFormProps {
  /** The customer to edit; without it the form creates one. */
  readonly customer?: Customer;
  readonly onClose: () => void;
  readonly onDone: (customer: Customer) => void;
}

export function CustomerForm({ customer, onClose, onDone }: CustomerFormProps) {
  const [draft, setDraft] = useState(() => draftOf(customer));
  const { toast } = useToast();
  const limits = useLimits();
  const write = useWrite<Customer>(
    customer === undefined
      ? 'app/developer_api_customers'
      : `app/developer_api_customers/${customer.id}/update`,
    {
      onDone: (saved) => {
        toast(customer === undefined ? 'Customer created' : 'Customer saved');
        onDone(saved);
      },
    },
  );
  const body = bodyOf(draft, customer);
  const isNamed = draft.name.trim() !== '' || draft.email.trim() !== '';
  const isComplete = isNamed && Object.keys(body).length > 0;
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
      description="A name or an email is required."
      submitLabel={customer === undefined ? 'Create customer' : 'Save'}
      // Without a change there is nothing to save.
      onSubmit={() => (Object.keys(body).length === 0 ? onClose() : void write.write(body))}
      isBusy={write.isBusy}
      problem={problem}
      code={write.request(isComplete ? body : undefined)}
    >
      <Field label="Name" missing={isNamed ? undefined : 'Enter a name or an email.'} param="name">
        <Input maxLength={limits.nameLengthMax} autoComplete="off" {...text('name')} />
      </Field>
      <Field label="Email" param="email">
        <Input type="email" maxLength={limits.emailLengthMax} autoComplete="off" {...text('email')} />
      </Field>
      <div className="grid gap-4 sm:grid-cols-2">
        <Field label="Phone" isOptional param="phone">
          <Input type="tel" maxLength={limits.phoneLengthMax} autoComplete="off" {...text('phone')} />
        </Field>
        <Field label="Reference" isOptional param="reference">
          <Input
            maxLength={limits.referenceLengthMax}
            autoComplete="off"
            placeholder="Your id"
            {...text('reference')}
          />
        </Field>
      </div>
      <Rows
        label="Metadata"
        param="metadata"
        rows={draft.metadata}
        onChange={(metadata) => setDraft({ ...draft, metadata })}
      />
    </Dialog>
  );
}
