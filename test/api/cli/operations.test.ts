import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { operations } from '../../../sdk/generated/operations.ts';
import { type CommandWorld, openCommandWorld, run } from '../../support/command.ts';
import { openReceiver, type Receiver } from '../../support/receiver.ts';
import { leaves } from './tree.ts';

/** Operations without a command that exits on completion, and the reason. */
const exceptions: Readonly<Record<string, string>> = {
  streamWebhookEvents: '"listen" and "events tail --follow" run until Ctrl-C: test/process/cli',
};

/**
 * Each operation and a command line that performs it. `{pay}` is the last id with that prefix in an earlier output, `{date}` the
 * last day. The order matters: each line builds on the ones above it.
 */
const commandOf: readonly (readonly [operation: string, line: string])[] = [
  ['getStatus', 'status'],
  ['getCapabilities', 'trigger --list'],
  ['getStateMachines', 'state-machines payment'],
  ['createWebhook', 'webhooks create {receiver} --secret {secret}'],
  ['createCustomer', 'customers create --name Ada'],
  ['updateCustomer', 'customers update {cus} --email ada@example.test'],
  ['listCustomers', 'customers list'],
  ['retrieveCustomer', 'customers get {cus}'],
  ['createPayment', 'payments create --minor 1000 --scenario refund_pending'],
  ['updatePayment', 'payments update {pay} --description Books --metadata order=42'],
  ['advancePayment', 'payments advance {pay} --to captured'],
  ['refundPayment', 'refunds create {pay} --minor 100'],
  ['listRefunds', 'refunds list --payment {pay}'],
  ['retrieveRefund', 'refunds get {rfd}'],
  ['advanceRefund', 'refunds advance {rfd} succeed'],
  ['advancePayment', 'payments advance {pay} settle'],
  ['advancePayment', 'payments advance {pay} dispute --minor 100'],
  ['listDisputes', 'disputes list --payment {pay}'],
  ['retrieveDispute', 'disputes get {dsp}'],
  ['advanceDispute', 'disputes advance {dsp} submit_evidence --evidence receipt=signed'],
  ['listPayments', 'payments list'],
  ['retrievePayment', 'payments get {pay}'],
  ['listPaymentHistory', 'payments history {pay}'],
  ['listPaymentProviderEvents', 'payments provider-events {pay}'],
  ['listPaymentLedgerEntries', 'payments ledger {pay}'],
  ['createTransfer', 'transfers create --send 100.00 --beneficiary Grace'],
  ['advanceTransfer', 'transfers advance {trf} --to completed'],
  ['listTransfers', 'transfers list'],
  ['retrieveTransfer', 'transfers get {trf}'],
  ['listTransferHistory', 'transfers history {trf}'],
  ['listTransferProviderEvents', 'transfers provider-events {trf}'],
  ['listTransferLedgerEntries', 'transfers ledger {trf}'],
  ['listFxRates', 'rates --from EUR'],
  ['getBalances', 'ledger balances'],
  ['listLedgerEntries', 'ledger entries --reason capture'],
  ['listSettlements', 'settlements list'],
  ['retrieveSettlement', 'settlements get {date}'],
  ['getReconciliation', 'reconciliation --currency EUR'],
  ['createWebhookEvent', 'trigger payment.captured'],
  ['listWebhookEvents', 'events tail --last 1'],
  ['retrieveWebhookEvent', 'events get {evt}'],
  ['replayWebhookEvent', 'events replay {evt}'],
  ['listWebhookDeliveries', 'deliveries list --webhook {whk}'],
  ['retrieveWebhookDelivery', 'deliveries get {dlv}'],
  ['replayWebhookEvent', 'deliveries retry {dlv}'],
  ['replayWebhookDeliveries', 'replays create --from 1h --select all'],
  ['listWebhookReplays', 'replays list'],
  ['retrieveWebhookReplay', 'replays get {rpl}'],
  ['openWebhookInbox', 'webhooks inbox --no-follow'],
  ['listWebhooks', 'webhooks list'],
  ['retrieveWebhook', 'webhooks get {whk}'],
  ['updateWebhook', 'webhooks update {whk} --events payment.*'],
  ['testWebhook', 'webhooks test {whk}'],
  ['examineWebhook', 'webhooks examine {whk} --cases valid_signature'],
  ['rotateWebhookSecret', 'webhooks rotate-secret {whk} --overlap 1h'],
  ['disableWebhook', 'webhooks disable {whk}'],
  ['enableWebhook', 'webhooks enable {whk}'],
  ['deleteWebhook', 'webhooks delete {whk}'],
  ['getClock', 'clock show'],
  ['freezeClock', 'clock freeze'],
  ['advanceClock', 'clock advance 1h'],
  ['resumeClock', 'clock resume'],
  ['resetClock', 'clock reset'],
  ['archiveCustomer', 'customers archive {cus}'],
  ['listRequests', 'logs tail --last 1'],
  ['retrieveRequest', 'logs get {req}'],
  ['listAuditEntries', 'audit list'],
  ['verifyAuditTrail', 'audit verify'],
  ['createFaultPlan', 'faults create drop --count 1'],
  ['listFaultPlans', 'faults list'],
  ['retrieveFaultPlan', 'faults get {flt}'],
  ['cancelFaultPlan', 'faults cancel {flt}'],
  ['getCoverage', 'coverage'],
  ['resetCoverage', 'coverage --reset'],
  ['resetOrganization', 'reset --yes'],
];

test('every API operation has a command, or a documented reason', () => {
  const paths = leaves().map(({ path }) => path);
  for (const [, line] of commandOf)
    expect(
      paths.some((path) => line === path || line.startsWith(`${path} `)),
      line,
    ).toBe(true);
  const reached = [...commandOf.map(([operation]) => operation), ...Object.keys(exceptions)];
  expect([...new Set(reached)].toSorted()).toEqual([...new Set(operations.map(({ id }) => id))].toSorted());
});

describe('the command of each operation', () => {
  let world: CommandWorld;
  let receiver: Receiver;
  const known: Record<string, string> = {};
  beforeAll(async () => {
    world = await openCommandWorld();
    receiver = await openReceiver();
    known.receiver = receiver.url;
    known.secret = `whsec_${randomBytes(32).toString('base64')}`;
  });
  afterAll(async () => {
    await receiver?.close();
    await world?.close();
  });

  const filledIn = (line: string) =>
    line.split(' ').map((argument) =>
      argument.replace(/^\{(\w+)\}$/, (_all, name: string) => {
        const value = known[name];
        if (value === undefined) throw new Error(`no output before "${line}" contains an id for {${name}}`);
        return value;
      }),
    );
  const learn = (output: string) => {
    for (const [id = '', prefix = ''] of output.matchAll(/\b([a-z]{3})_[0-9a-z]{26}\b/g)) known[prefix] = id;
    for (const [, date = ''] of output.matchAll(/"date":"(\d{4}-\d\d-\d\d)"/g)) known.date = date;
  };
  /** How often the server has performed an operation for this organization. */
  const performed = async (operation: string) => {
    const { body } = await world.owner.client.get('developer_api_coverage?kind=operation');
    const { items } = (body as unknown as { sections: { items: { name: string; count: number }[] }[] })
      .sections[0] ?? { items: [] };
    return items.find(({ name }) => name === operation)?.count ?? 0;
  };

  const isRead = (operation: string) => operations.some(({ id, verb }) => id === operation && verb === 'GET');

  test('performs it and prints one JSON value; a read also prints text', async () => {
    for (const [operation, line] of commandOf) {
      const before = await performed(operation);
      const ran = await run([...filledIn(line), '--json'], { env: world.env });
      expect([line, ran.code, ran.stderr]).toEqual([line, 0, '']);
      expect(ran.stdout).toMatch(/^\{.*\}\n$/);
      learn(ran.stdout);
      // A reset also deletes its own count.
      if (/^reset(Coverage|Organization)$/.test(operation)) continue;
      expect(await performed(operation), line).toBeGreaterThan(before);
      if (!isRead(operation)) continue;
      const text = await run(filledIn(line), { env: world.env });
      expect([line, text.code]).toEqual([line, 0]);
      expect(text.stdout).toMatch(/^[^{\s]/);
      expect(text.stdout).not.toMatch(/undefined|NaN|\[object/);
    }
  });
});
