import type { Dispute } from '../../generated/shapes.ts';
import { Money } from '../../parts/money.tsx';
import { sentenceCase } from '../../parts/text.ts';
import { Time } from '../../parts/time.tsx';
import { FactsCard, instants, MetadataCard, Notice } from '../records/facts.tsx';
import { PaymentCard } from '../records/payment-card.tsx';
import { StatefulPage } from '../records/stateful-page.tsx';

export function DisputeDetail() {
  return (
    <StatefulPage<Dispute>
      resource="dispute"
      name="Dispute"
      heading={({ amount, currency }) => <Money amount={amount} currency={currency} />}
      meta={({ reason, stage }) => (
        <span>
          {sentenceCase(reason)} · {sentenceCase(stage)}
        </span>
      )}
      notice={(dispute) => <DisputeNotice dispute={dispute} />}
      money={({ currency }) => ({ currency })}
      aside={(dispute) => (
        <>
          <PaymentCard id={dispute.paymentId} />
          <FactsCard
            title="Details"
            items={[
              ['Reason', dispute.reason],
              ['Stage', sentenceCase(dispute.stage)],
              ...instants([
                ['Respond by', dispute.respondBy],
                ['Created', dispute.createdAt],
                ['Closed', dispute.closedAt],
                ['Changed', dispute.updatedAt],
              ]),
            ]}
          />
          {dispute.evidence === null ? null : <MetadataCard title="Evidence" metadata={dispute.evidence} />}
        </>
      )}
    />
  );
}

function DisputeNotice({ dispute: { status, respondBy, allowedActions } }: { readonly dispute: Dispute }) {
  if (status === 'needs_response') {
    return (
      <Notice tone="warn">
        Submit evidence by <Time at={respondBy} show="full" mayBeAhead />, or the dispute is lost.
      </Notice>
    );
  }
  return allowedActions.length === 0 ? <Notice tone="quiet">This dispute is final.</Notice> : null;
}
