import { useRead } from '../../client/queries.ts';
import type { Payment } from '../../generated/shapes.ts';
import { IdLink } from '../../parts/anchor.tsx';
import { Money } from '../../parts/money.tsx';
import { StatusBadge } from '../../parts/status-badge.tsx';
import { CustomerLink } from './customer-link.tsx';
import { FactsCard } from './facts.tsx';

/** The payment that a refund or dispute belongs to. */
export function PaymentCard({ id }: { readonly id: string }) {
  const { data } = useRead<Payment>(`app/developer_api_payments/${id}`);
  return (
    <FactsCard
      title="Payment"
      items={[
        ['Id', <IdLink key="id" id={id} className="break-all" />],
        ['Amount', data && <Money key="amount" amount={data.amount} currency={data.currency} />],
        ['Status', data && <StatusBadge key="status" status={data.status} />],
        ['Customer', data?.customerId ? <CustomerLink key="customer" id={data.customerId} /> : null],
        ['Description', data?.description],
      ]}
    />
  );
}
