import { useRead } from '../../client/queries.ts';
import type { Payment } from '../../client/shapes.ts';
import { useRecordId } from '../../frame/params.ts';
import { Money } from '../../parts/money.tsx';
import { StatusBadge } from '../../parts/status-badge.tsx';
import { sentenceCase } from '../../parts/text.ts';
import { Actions } from '../records/actions.tsx';
import { CustomerLink } from '../records/customer-link.tsx';
import { Diagram } from '../records/diagram.tsx';
import { FactsCard, FailureNote, instants, MetadataCard, scenarioText } from '../records/facts.tsx';
import { RecordColumns, RecordPage } from '../records/record-page.tsx';
import { Timeline, useTimeline } from '../records/timeline.tsx';
import { pathOf } from '../records/timeline-groups.ts';
import { Attempts } from './attempts.tsx';
import { RelatedDisputes, RelatedRefunds } from './related.tsx';

const everyMs = 10_000;

export function PaymentDetail() {
  const id = useRecordId();
  const read = useRead<Payment>(`app/developer_api_payments/${id}`, {}, { everyMs });
  return (
    <RecordPage
      id={id}
      name="Payment"
      parent={{ to: 'payments', label: 'Payments' }}
      read={read}
      heading={({ amount, currency }) => <Money amount={amount} currency={currency} />}
      description={({ description }) => description}
    >
      {(payment) => <Content payment={payment} />}
    </RecordPage>
  );
}

function Content({ payment }: { readonly payment: Payment }) {
  const timeline = useTimeline(payment.id);
  return (
    <>
      <FailureNote failure={payment.failure} />
      <div className="mb-5">
        <Actions
          resource="payment"
          id={payment.id}
          status={payment.status}
          allowed={payment.allowedActions}
          money={{
            currency: payment.currency,
            amountCapturable: payment.amountCapturable,
            amountRefundable: payment.amountRefundable,
            disputable: payment.amountCaptured - payment.amountRefunded,
          }}
        />
      </div>
      <RecordColumns aside={<Aside payment={payment} />}>
        <Diagram
          resource="payment"
          status={payment.status}
          allowed={payment.allowedActions}
          path={pathOf(timeline.data?.items ?? [])}
        />
        <Timeline timeline={timeline} />
      </RecordColumns>
    </>
  );
}

function Aside({ payment }: { readonly payment: Payment }) {
  const money = (amount: number) => <Money amount={amount} currency={payment.currency} />;
  const { paymentMethod, reconciliation } = payment;
  return (
    <>
      <FactsCard
        title="Amounts"
        items={[
          ['Amount', money(payment.amount)],
          ['Captured', money(payment.amountCaptured)],
          ['Capturable', money(payment.amountCapturable)],
          ['Refunded', money(payment.amountRefunded)],
          ['Refundable', money(payment.amountRefundable)],
          ['Disputed', money(payment.amountDisputed)],
          ['Fee', money(payment.feeAmount)],
        ]}
      />
      <FactsCard
        title="Details"
        items={[
          [
            'Customer',
            payment.customerId === null ? null : <CustomerLink key="customer" id={payment.customerId} />,
          ],
          ['Reference', payment.reference],
          [
            'Method',
            `${sentenceCase(paymentMethod.type)}${paymentMethod.lastFour === undefined ? '' : ` ···· ${paymentMethod.lastFour}`}`,
          ],
          ['Capture', sentenceCase(payment.captureMethod)],
          [
            'Scenario',
            <span key="scenario" className="font-mono text-[0.75rem]">
              {scenarioText(payment.scenario)}
            </span>,
          ],
          ['Advances', payment.autoAdvance ? 'Automatically, on the clock' : 'On request'],
          [
            'Reconciliation',
            reconciliation === null ? null : <StatusBadge key="result" status={reconciliation} />,
          ],
        ]}
      />
      <Attempts payment={payment} />
      <FactsCard
        title="Times"
        items={instants([
          ['Created', payment.createdAt],
          ['Authorized', payment.authorizedAt],
          ['Authorization expires', payment.authorizationExpiresAt],
          ['Captured', payment.capturedAt],
          ['Settled', payment.settledAt],
          ['Refunded', payment.refundedAt],
          ['Disputed', payment.disputedAt],
          ['Charged back', payment.chargedBackAt],
          ['Failed', payment.failedAt],
          ['Canceled', payment.canceledAt],
          ['Expired', payment.expiredAt],
          ['Changed', payment.updatedAt],
        ])}
      />
      <RelatedRefunds paymentId={payment.id} />
      <RelatedDisputes paymentId={payment.id} />
      <MetadataCard metadata={payment.metadata} />
    </>
  );
}
