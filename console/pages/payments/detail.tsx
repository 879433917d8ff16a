import { useNavigate } from '@tanstack/react-router';
import { CopyPlus } from 'lucide-react';
import { useScope } from '../../client/scope.ts';
import type { Payment } from '../../generated/shapes.ts';
import { Anchor } from '../../parts/anchor.tsx';
import { MenuItem } from '../../parts/menu.tsx';
import { Money } from '../../parts/money.tsx';
import { StatusBadge } from '../../parts/status-badge.tsx';
import { sentenceCase } from '../../parts/text.ts';
import { CustomerLink } from '../records/customer-link.tsx';
import { FactsCard, FailureNote, instants, Notice, scenarioText } from '../records/facts.tsx';
import { StatefulPage } from '../records/stateful-page.tsx';
import { Attempts } from './attempts.tsx';
import { RelatedDisputes, RelatedRefunds } from './related.tsx';
import { TextsCard } from './texts-card.tsx';

export function PaymentDetail() {
  return (
    <StatefulPage<Payment>
      resource="payment"
      name="Payment"
      heading={({ amount, currency }) => <Money amount={amount} currency={currency} />}
      meta={(payment) => <Meta payment={payment} />}
      notice={(payment) => <PaymentNotice payment={payment} />}
      money={({ currency, amountCapturable, amountRefundable }) => ({
        currency,
        amountCapturable,
        amountRefundable,
      })}
      menu={({ id }) => <CreateSimilar id={id} />}
      aside={(payment) => <Aside payment={payment} />}
    />
  );
}

function CreateSimilar({ id }: { readonly id: string }) {
  const navigate = useNavigate();
  const { orgId } = useScope();
  const open = () => void navigate({ to: `/${orgId}/payments`, search: { create: '1', like: id } as never });
  return (
    <MenuItem icon={<CopyPlus aria-hidden size={15} />} onSelect={open}>
      Create similar…
    </MenuItem>
  );
}

function Meta({ payment }: { readonly payment: Payment }) {
  const { customerId, reference, description } = payment;
  return (
    <>
      {reference === null ? null : <span>{reference}</span>}
      <span>{methodText(payment)}</span>
      {customerId === null ? null : <CustomerLink id={customerId} />}
      {description === null ? null : <span className="basis-full text-ink">{description}</span>}
    </>
  );
}

function methodText({ paymentMethod: { type, lastFour } }: Payment): string {
  return `${sentenceCase(type)}${lastFour === undefined ? '' : ` ···· ${lastFour}`}`;
}

function PaymentNotice({ payment }: { readonly payment: Payment }) {
  const { status, disputeId, failure, allowedActions } = payment;
  if (status === 'disputed' && disputeId !== null) {
    return (
      <Notice tone="warn">
        Waiting for its dispute. <Anchor to={`disputes/${disputeId}`}>Open dispute</Anchor>
      </Notice>
    );
  }
  if (failure !== null) return <FailureNote failure={failure} />;
  return allowedActions.length === 0 ? <Notice tone="quiet">This payment is final.</Notice> : null;
}

function Aside({ payment }: { readonly payment: Payment }) {
  const money = (amount: number) =>
    amount === 0 ? null : <Money amount={amount} currency={payment.currency} />;
  const { reconciliation } = payment;
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
          ['Method', methodText(payment)],
          ['Capture', sentenceCase(payment.captureMethod)],
          [
            'Scenario',
            <span key="scenario" className="font-mono text-[0.75rem]">
              {scenarioText(payment.scenario)}
            </span>,
          ],
          ['Auto-advance', payment.autoAdvance ? 'On' : 'Off'],
          [
            'Reconciliation',
            reconciliation === null ? null : <StatusBadge key="result" status={reconciliation} />,
          ],
          ...instants([
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
          ]),
        ]}
      />
      <Attempts payment={payment} />
      <RelatedRefunds paymentId={payment.id} />
      <RelatedDisputes paymentId={payment.id} />
      <TextsCard payment={payment} />
    </>
  );
}
