import type { Refund } from '../../generated/shapes.ts';
import { Money } from '../../parts/money.tsx';
import { FactsCard, instants, MetadataCard, Notice } from '../records/facts.tsx';
import { PaymentCard } from '../records/payment-card.tsx';
import { StatefulPage } from '../records/stateful-page.tsx';

export function RefundDetail() {
  return (
    <StatefulPage<Refund>
      resource="refund"
      name="Refund"
      heading={({ amount, currency }) => <Money amount={amount} currency={currency} />}
      meta={({ reason }) => (reason === null ? null : <span>{reason}</span>)}
      notice={({ allowedActions }) =>
        allowedActions.length === 0 ? <Notice tone="quiet">This refund is final.</Notice> : null
      }
      money={({ currency }) => ({ currency })}
      aside={(refund) => (
        <>
          <PaymentCard id={refund.paymentId} />
          <FactsCard
            title="Details"
            items={[
              ['Reason', refund.reason],
              ...instants([
                ['Created', refund.createdAt],
                ['Ended', refund.endedAt],
                ['Changed', refund.updatedAt],
              ]),
            ]}
          />
          <MetadataCard metadata={refund.metadata} />
        </>
      )}
    />
  );
}
