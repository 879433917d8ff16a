import type { Transfer } from '../../generated/shapes.ts';
import { Money } from '../../parts/money.tsx';
import { StatusBadge } from '../../parts/status-badge.tsx';
import { CustomerLink } from '../records/customer-link.tsx';
import { FactsCard, FailureNote, instants, MetadataCard, Notice, scenarioText } from '../records/facts.tsx';
import { StatefulPage } from '../records/stateful-page.tsx';

export function TransferDetail() {
  return (
    <StatefulPage<Transfer>
      resource="transfer"
      name="Transfer"
      heading={({ sourceAmount, sourceCurrency, targetAmount, targetCurrency }) => (
        <>
          <Money amount={sourceAmount} currency={sourceCurrency} />
          <span className="font-normal text-muted"> to </span>
          <Money amount={targetAmount} currency={targetCurrency} />
        </>
      )}
      meta={({ beneficiary, customerId, reference }) => (
        <>
          {beneficiary === null ? null : <span>To {beneficiary.name}</span>}
          {reference === null ? null : <span>{reference}</span>}
          {customerId === null ? null : <CustomerLink id={customerId} />}
        </>
      )}
      notice={({ failure, allowedActions }) => {
        if (failure !== null) return <FailureNote failure={failure} />;
        return allowedActions.length === 0 ? <Notice tone="quiet">This transfer is final.</Notice> : null;
      }}
      money={({ sourceCurrency }) => ({ currency: sourceCurrency })}
      hasBeneficiary={({ beneficiary }) => beneficiary !== null}
      aside={(transfer) => <Aside transfer={transfer} />}
    />
  );
}

function Aside({ transfer }: { readonly transfer: Transfer }) {
  const { sourceCurrency, targetCurrency, beneficiary, reconciliation } = transfer;
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
          ['Funding', transfer.fundFrom === 'balance' ? 'Available balance' : 'External'],
          [
            'Scenario',
            <span key="scenario" className="font-mono text-[0.75rem]">
              {scenarioText(transfer.scenario)}
            </span>,
          ],
          ['Auto-advance', transfer.autoAdvance ? 'On' : 'Off'],
          ['Return code', transfer.returnCode],
          [
            'Reconciliation',
            reconciliation === null ? null : <StatusBadge key="result" status={reconciliation} />,
          ],
          ...instants([
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
          ]),
        ]}
      />
      <MetadataCard metadata={transfer.metadata} />
    </>
  );
}
