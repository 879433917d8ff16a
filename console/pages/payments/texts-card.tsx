import { Pencil } from 'lucide-react';
import { useState } from 'react';
import { useAllowed } from '../../frame/session.tsx';
import type { Payment } from '../../generated/shapes.ts';
import { Button } from '../../parts/button.tsx';
import { Card } from '../../parts/card.tsx';
import { KeyValue } from '../../parts/key-value.tsx';
import { NoneLine } from '../records/facts.tsx';
import { PaymentEdit } from './edit.tsx';

const title = 'Description and metadata';

/** What the merchant wrote about the payment, with an Edit button. */
export function TextsCard({ payment }: { readonly payment: Payment }) {
  const [isEditing, setEditing] = useState(false);
  const mayEdit = useAllowed('developer');
  const items = Object.entries(payment.metadata);
  const edit = mayEdit ? (
    <Button
      size="small"
      variant="ghost"
      icon={<Pencil aria-hidden size={13} />}
      aria-label={`Edit ${title.toLowerCase()}`}
      onClick={() => setEditing(true)}
    >
      Edit
    </Button>
  ) : undefined;
  return (
    <>
      {payment.description === null && items.length === 0 ? (
        <NoneLine title={title} action={edit} />
      ) : (
        <Card title={title} isCompact {...(edit === undefined ? {} : { actions: edit })}>
          <div className="flex flex-col gap-2">
            {payment.description === null ? null : (
              <p className="[overflow-wrap:anywhere]">{payment.description}</p>
            )}
            {items.length === 0 ? null : <KeyValue items={items} isNarrow />}
          </div>
        </Card>
      )}
      {isEditing ? <PaymentEdit payment={payment} onClose={() => setEditing(false)} /> : null}
    </>
  );
}
