import { useRead } from '../../client/queries.ts';
import type { Refund } from '../../client/shapes.ts';
import { useRecordId } from '../../frame/params.ts';
import { Money } from '../../parts/money.tsx';
import { Actions } from '../records/actions.tsx';
import { Diagram } from '../records/diagram.tsx';
import { FactsCard, instants, MetadataCard } from '../records/facts.tsx';
import { PaymentCard } from '../records/payment-card.tsx';
import { RecordColumns, RecordPage } from '../records/record-page.tsx';
import { Timeline, useTimeline } from '../records/timeline.tsx';
import { pathOf } from '../records/timeline-groups.ts';

const everyMs = 10_000;

export function RefundDetail() {
  const id = useRecordId();
  const read = useRead<Refund>(`app/developer_api_refunds/${id}`, {}, { everyMs });
  return (
    <RecordPage
      id={id}
      name="Refund"
      parent={{ to: 'refunds', label: 'Refunds' }}
      read={read}
      heading={({ amount, currency }) => <Money amount={amount} currency={currency} />}
      description={({ reason }) => reason}
    >
      {(refund) => <Content refund={refund} />}
    </RecordPage>
  );
}

function Content({ refund }: { readonly refund: Refund }) {
  const timeline = useTimeline(refund.id);
  return (
    <>
      <div className="mb-5">
        <Actions
          resource="refund"
          id={refund.id}
          status={refund.status}
          allowed={refund.allowedActions}
          money={{ currency: refund.currency }}
        />
      </div>
      <RecordColumns
        aside={
          <>
            <PaymentCard id={refund.paymentId} />
            <FactsCard
              title="Details"
              items={[
                ['Amount', <Money key="amount" amount={refund.amount} currency={refund.currency} />],
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
        }
      >
        <Diagram
          resource="refund"
          status={refund.status}
          allowed={refund.allowedActions}
          path={pathOf(timeline.data?.items ?? [])}
        />
        <Timeline timeline={timeline} />
      </RecordColumns>
    </>
  );
}
