import { CreditCard } from 'lucide-react';
import { RecordList } from '../records/record-list.tsx';
import { paymentColumns } from './columns.tsx';
import { PaymentCreate } from './create.tsx';

export function PaymentList() {
  return (
    <RecordList
      kind="payment"
      columns={paymentColumns}
      placeholder="Id, reference or customer"
      texts={[
        { name: 'customerId', label: 'Customer', placeholder: 'cus_…' },
        { name: 'reference', label: 'Reference', placeholder: 'Exact reference' },
      ]}
      none={{
        icon: <CreditCard aria-hidden size={20} />,
        description:
          'A payment takes money from a customer. Create one here or with the API, choose what the simulated provider does, and advance it through its states.',
      }}
      create={(onClose) => <PaymentCreate onClose={onClose} />}
    />
  );
}
