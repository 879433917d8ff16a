import { useState } from 'react';
import { useLimits } from '../../client/capabilities.ts';
import { useWrite } from '../../client/queries.ts';
import type { Payment } from '../../generated/shapes.ts';
import { Dialog } from '../../parts/dialog.tsx';
import { Field, Input } from '../../parts/field.tsx';
import { useToast } from '../../parts/toast.tsx';
import { Rows, rowsOf } from '../records/rows.tsx';
import { updateOf } from './draft.ts';

export interface PaymentEditProps {
  readonly payment: Payment;
  readonly onClose: () => void;
}

/** Edits the description and metadata, which is possible in every state. */
export function PaymentEdit({ payment, onClose }: PaymentEditProps) {
  const [description, setDescription] = useState(payment.description ?? '');
  const [rows, setRows] = useState(() => rowsOf(payment.metadata));
  const limits = useLimits();
  const { toast } = useToast();
  const update = useWrite<Payment>(`app/developer_api_payments/${payment.id}/update`, {
    onDone: () => {
      toast('Payment saved');
      onClose();
    },
  });
  const body = updateOf(payment, description, rows);
  const { problem } = update;
  return (
    <Dialog
      isOpen
      onOpenChange={onClose}
      title="Edit payment"
      description="The status, the amounts and the automatic steps do not change."
      // Without a change there is nothing to save.
      onSubmit={() => (body === undefined ? onClose() : void update.write(body))}
      isBusy={update.isBusy}
      problem={problem}
      code={update.request(body)}
    >
      <Field label="Description" isOptional param="description">
        <Input
          maxLength={limits.descriptionLengthMax}
          value={description}
          onChange={(event) => setDescription(event.currentTarget.value)}
        />
      </Field>
      <Rows label="Metadata" param="metadata" rows={rows} onChange={setRows} />
    </Dialog>
  );
}
