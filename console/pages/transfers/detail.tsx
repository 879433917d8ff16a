import { useRead } from '../../client/queries.ts';
import type { Transfer } from '../../client/shapes.ts';
import { useRecordId } from '../../frame/params.ts';
import { Money } from '../../parts/money.tsx';
import { StatusBadge } from '../../parts/status-badge.tsx';
import { Actions } from '../records/actions.tsx';
import { CustomerLink } from '../records/customer-link.tsx';
import { Diagram } from '../records/diagram.tsx';
import { FactsCard, FailureNote, instants, MetadataCard, scenarioText } from '../records/facts.tsx';
import { RecordColumns, RecordPage } from '../records/record-page.tsx';
import { Timeline, useTimeline } from '../records/timeline.tsx';
import { pathOf } from '../records/timeline-groups.ts';

const everyMs = 10_000;

export function TransferDetail() {
  const id = useRecordId();
  const read = useRead<Transfer>(`app/developer_api_transfers/${id}`, {}, { everyMs });
  return (
    <RecordPage
      id={id}
      name="Transfer"
      parent={{ to: 'transfers', label: 'Transfers' }}
      read={read}
      heading={({ sourceAmount, sourceCurrency, targetAmount, targetCurrency }) => (
        <>
          <Money amount={sourceAmount} currency={sourceCurrency} />
          <span className="font-normal text-muted"> to </span>
          <Money amount={targetAmount} currency={targetCurrency} />
        </>
      )}
      description={({ beneficiary }) => (beneficiary === null ? undefined : `To ${beneficiary.name}`)}
    >
      {(transfer) => <Content transfer={transfer} />}
    </RecordPage>
  );
}

function Content({ transfer }: { readonly transfer: Transfer }) {
  const timeline = useTimeline(transfer.id);
  return (
    <>
      <FailureNote failure={transfer.failure} />
      <div className="mb-5">
        <Actions
          resource="transfer"
          id={transfer.id}
          status={transfer.status}
          allowed={transfer.allowedActions}
          money={{ currency: transfer.sourceCurrency }}
          hasBeneficiary={transfer.beneficiary !== null}
        />
      </div>
      <RecordColumns aside={<Aside transfer={transfer} />}>
        <Diagram
          resource="transfer"
          status={transfer.status}
          allowed={transfer.allowedActions}
          path={pathOf(timeline.data?.items ?? [])}
        />
        <Timeline timeline={timeline} />
      </RecordColumns>
    </>
  );
}

function Aside({ transfer }: { readonly transfer: Transfer }) {
  const { sourceCurrency, targetCurrency, beneficiary, customerId, reconciliation } = transfer;
  return (
    <>
      <FactsCard
        title="Amounts"
        items={[
          ['Source', <Money key="source" amount={transfer.sourceAmount} currency={sourceCurrency} />],
          ['Fee', <Money key="fee" amount={transfer.feeAmount} currency={sourceCurrency} />],
          ['Total to pay', <Money key="total" amount={transfer.totalAmount} currency={sourceCurrency} />],
          ['Target', <Money key="target" amount={transfer.targetAmount} currency={targetCurrency} />],
          ['Rate', `1 ${sourceCurrency} = ${transfer.rate} ${targetCurrency}`],
          ['Inverse', `1 ${targetCurrency} = ${transfer.inverseRate} ${sourceCurrency}`],
          ['Mid-market', transfer.midMarketRate],
          ['Margin', `${transfer.marginBasisPoints} basis points`],
        ]}
      />
      <FactsCard
        title="Beneficiary"
        items={[
          ['Name', beneficiary?.name ?? 'None yet; required to accept the quote'],
          ['Country', beneficiary?.country],
          ['Account', beneficiary?.account],
        ]}
      />
      <FactsCard
        title="Details"
        items={[
          ['Customer', customerId === null ? null : <CustomerLink key="customer" id={customerId} />],
          ['Reference', transfer.reference],
          ['Funding', transfer.fundFrom === 'balance' ? 'Available balance' : 'External'],
          [
            'Scenario',
            <span key="scenario" className="font-mono text-[0.75rem]">
              {scenarioText(transfer.scenario)}
            </span>,
          ],
          ['Advances', transfer.autoAdvance ? 'Automatically, on the clock' : 'On request'],
          ['Return code', transfer.returnCode],
          [
            'Reconciliation',
            reconciliation === null ? null : <StatusBadge key="result" status={reconciliation} />,
          ],
        ]}
      />
      <FactsCard
        title="Times"
        items={instants([
          ['Quoted', transfer.createdAt],
          ['Quote expires', transfer.expiresAt],
          ['Accepted', transfer.acceptedAt],
          ['Funding expires', transfer.fundingExpiresAt],
          ['Funded', transfer.fundedAt],
          ['Reviewed', transfer.reviewedAt],
          ['Converted', transfer.convertedAt],
          ['Sent', transfer.sentAt],
          ['Completed', transfer.completedAt],
          ['Returned', transfer.returnedAt],
          ['Refunded', transfer.refundedAt],
          ['Canceled', transfer.canceledAt],
          ['Expired', transfer.expiredAt],
          ['Failed', transfer.failedAt],
          ['Changed', transfer.updatedAt],
        ])}
      />
      <MetadataCard metadata={transfer.metadata} />
    </>
  );
}
