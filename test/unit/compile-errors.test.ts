import { describe, expect, expectTypeOf, test } from 'vitest';
import { change, type LoadedRows, type RowRead } from '../../src/kernel/command.ts';
import { formatId, type Id, idFrom, isId } from '../../src/kernel/ids.ts';
import { type ActionOf, allowedActions, refuseMove, type StateOf } from '../../src/kernel/machine.ts';
import type { apiKeyMachine } from '../../src/resources/api-keys/machine.ts';
import type { ApiKeyRow } from '../../src/resources/api-keys/table.ts';
import type { applicationMachine } from '../../src/resources/applications/machine.ts';
import type { ApplicationRow } from '../../src/resources/applications/table.ts';
import type { clockMachine } from '../../src/resources/clocks/machine.ts';
import type { ClockRow } from '../../src/resources/clocks/table.ts';
import type { customerMachine } from '../../src/resources/customers/machine.ts';
import type { CustomerRow } from '../../src/resources/customers/table.ts';
import type { disputeMachine } from '../../src/resources/disputes/machine.ts';
import type { DisputeRow } from '../../src/resources/disputes/table.ts';
import type { faultPlanMachine } from '../../src/resources/fault-plans/machine.ts';
import type { FaultPlanRow } from '../../src/resources/fault-plans/table.ts';
import type { invitationMachine } from '../../src/resources/organizations/invitation-machine.ts';
import type { InvitationRow } from '../../src/resources/organizations/invitation-table.ts';
import type { organizationMachine } from '../../src/resources/organizations/machine.ts';
import type { memberMachine } from '../../src/resources/organizations/member-machine.ts';
import type { MemberRow } from '../../src/resources/organizations/member-table.ts';
import type { OrganizationRow } from '../../src/resources/organizations/table.ts';
import { paymentMachine } from '../../src/resources/payments/machine.ts';
import type { PaymentRow } from '../../src/resources/payments/table.ts';
import { refundMachine } from '../../src/resources/refunds/machine.ts';
import type { RefundRow } from '../../src/resources/refunds/table.ts';
import type { transferMachine } from '../../src/resources/transfers/machine.ts';
import type { TransferRow } from '../../src/resources/transfers/table.ts';
import type { webhookMachine } from '../../src/resources/webhooks/machine.ts';
import type { replayMachine } from '../../src/resources/webhooks/replay-machine.ts';
import type { ReplayRow } from '../../src/resources/webhooks/replay-table.ts';
import type { WebhookRow } from '../../src/resources/webhooks/table.ts';

/** `tsc` checks these: an unused `@ts-expect-error` is an error itself. */
declare const payment: PaymentRow;
declare const rows: LoadedRows;

describe('a machine', () => {
  test('has actions that are checked when it compiles', () => {
    // @ts-expect-error A misspelt action.
    const misspelt = () => change(paymentMachine, 'captrue', payment, payment);
    // @ts-expect-error An action of another machine.
    const foreign = () => refuseMove(paymentMachine, 'submit_evidence', payment);
    expect([misspelt, foreign]).toHaveLength(2);
    expectTypeOf<ActionOf<typeof refundMachine>>().toEqualTypeOf<'create' | 'succeed' | 'fail' | 'cancel'>();
    expectTypeOf(allowedActions(refundMachine, { status: 'pending' } as RefundRow)).toEqualTypeOf<
      readonly ActionOf<typeof refundMachine>[]
    >();
  });

  test('has states that are checked when it compiles', () => {
    // @ts-expect-error A misspelt state.
    const misspelt = (): PaymentRow => ({ ...payment, status: 'captrued' });
    // @ts-expect-error A state of another machine.
    const foreign = (): PaymentRow => ({ ...payment, status: 'needs_response' });
    expect([misspelt, foreign]).toHaveLength(2);
  });

  test('lists the very states that its rows can have', () => {
    expectTypeOf<StateOf<typeof apiKeyMachine>>().toEqualTypeOf<ApiKeyRow['status']>();
    expectTypeOf<StateOf<typeof applicationMachine>>().toEqualTypeOf<ApplicationRow['status']>();
    expectTypeOf<StateOf<typeof clockMachine>>().toEqualTypeOf<ClockRow['status']>();
    expectTypeOf<StateOf<typeof customerMachine>>().toEqualTypeOf<CustomerRow['status']>();
    expectTypeOf<StateOf<typeof disputeMachine>>().toEqualTypeOf<DisputeRow['status']>();
    expectTypeOf<StateOf<typeof faultPlanMachine>>().toEqualTypeOf<FaultPlanRow['status']>();
    expectTypeOf<StateOf<typeof invitationMachine>>().toEqualTypeOf<InvitationRow['status']>();
    expectTypeOf<StateOf<typeof memberMachine>>().toEqualTypeOf<MemberRow['status']>();
    expectTypeOf<StateOf<typeof organizationMachine>>().toEqualTypeOf<OrganizationRow['status']>();
    expectTypeOf<StateOf<typeof paymentMachine>>().toEqualTypeOf<PaymentRow['status']>();
    expectTypeOf<StateOf<typeof refundMachine>>().toEqualTypeOf<RefundRow['status']>();
    expectTypeOf<StateOf<typeof replayMachine>>().toEqualTypeOf<ReplayRow['status']>();
    expectTypeOf<StateOf<typeof transferMachine>>().toEqualTypeOf<TransferRow['status']>();
    expectTypeOf<StateOf<typeof webhookMachine>>().toEqualTypeOf<WebhookRow['status']>();
  });
});

describe('an id', () => {
  const customerId = formatId('customer', '01h455vb4pex5vsknk084sn02q');

  test('does not compile where an id of another kind is expected', () => {
    // @ts-expect-error The id of a customer.
    const paymentId: Id<'payment'> = customerId;
    // @ts-expect-error Any text.
    const textId: Id<'customer'> = 'cus_01h455vb4pex5vsknk084sn02q';
    // @ts-expect-error A payment is read by the id of a payment.
    const read: RowRead = { resource: 'payment', id: customerId, lock: 'none' };
    // @ts-expect-error A payment is found by the id of a payment.
    const find = () => rows.get<PaymentRow>('payment', customerId);
    // @ts-expect-error A row has an id of its own kind.
    const row = (): PaymentRow => ({ ...payment, id: customerId });
    expect([paymentId, textId, read, find, row]).toHaveLength(5);
  });

  test('is a string anywhere', () => {
    const text: string = customerId;
    expect(text.startsWith('cus_')).toBe(true);
  });

  test('comes from text by a check', () => {
    const text: string = customerId;
    if (isId('customer', text)) expectTypeOf(text).toEqualTypeOf<Id<'customer'>>();
    expect(idFrom('customer', text)).toBe(text);
    expect(idFrom('payment', text)).toBe('pay_');
    expect(idFrom('payment', undefined)).toBe('pay_');
    expect(isId('payment', idFrom('payment', text))).toBe(false);
  });
});
