import { useRead } from '../../client/queries.ts';
import type { Dispute } from '../../client/shapes.ts';
import { useRecordId } from '../../frame/params.ts';
import { Money } from '../../parts/money.tsx';
import { sentenceCase } from '../../parts/text.ts';
import { Time } from '../../parts/time.tsx';
import { Actions } from '../records/actions.tsx';
import { Diagram } from '../records/diagram.tsx';
import { FactsCard, instants, MetadataCard } from '../records/facts.tsx';
import { PaymentCard } from '../records/payment-card.tsx';
import { RecordColumns, RecordPage } from '../records/record-page.tsx';
import { Timeline, useTimeline } from '../records/timeline.tsx';
import { pathOf } from '../records/timeline-groups.ts';

const everyMs = 10_000;

export function DisputeDetail() {
  const id = useRecordId();
  const read = useRead<Dispute>(`app/developer_api_disputes/${id}`, {}, { everyMs });
  return (
    <RecordPage
      id={id}
      name="Dispute"
      parent={{ to: 'disputes', label: 'Disputes' }}
      read={read}
      heading={({ amount, currency }) => <Money amount={amount} currency={currency} />}
      description={({ reason }) => reason}
    >
      {(dispute) => <Content dispute={dispute} />}
    </RecordPage>
  );
}

function Content({ dispute }: { readonly dispute: Dispute }) {
  const timeline = useTimeline(dispute.id);
  return (
    <>
      {dispute.status === 'needs_response' ? (
        <p className="mb-5 rounded-md bg-warn-soft px-3.5 py-2.5 text-warn">
          Submit evidence by <Time at={dispute.respondBy} show="absolute" />. Otherwise the dispute is lost.
        </p>
      ) : null}
      <div className="mb-5">
        <Actions
          resource="dispute"
          id={dispute.id}
          status={dispute.status}
          allowed={dispute.allowedActions}
          money={{ currency: dispute.currency }}
        />
      </div>
      <RecordColumns
        aside={
          <>
            <PaymentCard id={dispute.paymentId} />
            <FactsCard
              title="Details"
              items={[
                ['Amount', <Money key="amount" amount={dispute.amount} currency={dispute.currency} />],
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
        }
      >
        <Diagram
          resource="dispute"
          status={dispute.status}
          allowed={dispute.allowedActions}
          path={pathOf(timeline.data?.items ?? [])}
        />
        <Timeline timeline={timeline} />
      </RecordColumns>
    </>
  );
}
