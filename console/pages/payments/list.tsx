import { CreditCard } from 'lucide-react';
import { RecordList } from '../records/record-list.tsx';
import { paymentName } from './bulk-actions.ts';
import { PaymentBulkBar } from './bulk-bar.tsx';
import { paymentColumns } from './columns.tsx';
import { CreateFromUrl } from './create-from-url.tsx';

export function PaymentList() {
  return (
    <RecordList
      kind="payment"
      columns={paymentColumns}
      placeholder="Reference, customer, text or id"
      hasCustomer
      hasAmount
      texts={[{ name: 'reference', label: 'Reference', placeholder: 'Exact reference' }]}
      none={{
        icon: <CreditCard aria-hidden size={20} />,
        description:
          'A payment takes money from a customer. Create one here or with the API, choose what the simulated provider does, and advance it through its states.',
      }}
      bulk={{ nameOf: paymentName, bar: (props) => <PaymentBulkBar {...props} /> }}
      create={() => <CreateFromUrl />}
    />
  );
}
