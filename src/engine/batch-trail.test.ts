import { describe, expect, test } from 'vitest';
import type { AnyResource, Change } from '../kernel/command.ts';
import type { EventRow } from '../kernel/event.ts';
import { formatId } from '../kernel/ids.ts';
import { type AnyRow, defineTable } from '../kernel/table.ts';
import type { DeliveryRow } from '../resources/webhooks/delivery-table.ts';
import type { IdempotencyRow } from './answers.ts';
import { BatchTrail } from './batch-trail.ts';
import { WorkingSet } from './working-set.ts';

const payments = {
  name: 'payment',
  table: defineTable<AnyRow>('payments', ['org_id', 'id'], { orgId: 'text', id: 'text' }),
  due: () => ({ at: 5, action: 'expire' }),
} as unknown as AnyResource;
const resources = new Map([['payment', payments]]);

const row = { orgId: 'org_1', id: formatId('payment', '0'.repeat(26)), appId: 'app_1' };
const postings = [{ account: 'bank', currency: 'EUR', amount: 5n }];
const change = { resource: 'payment', row, entries: [{ reason: 'capture', postings }] } as unknown as Change;
const key = (orgId: string, appId: string, name: string) => ({ orgId, appId, key: name }) as IdempotencyRow;
const delivery = (id: string, eventId: string) => ({ id, eventId }) as DeliveryRow;

const written = (trail: BatchTrail, rows = new WorkingSet(resources)) =>
  trail
    .writes(rows, resources.values())
    .map(({ table, mode, rows: { length } }) => `${table.name} ${mode} ${length}`);

describe('the writes of a batch', () => {
  test('are empty when nothing happened', () => {
    expect(written(new BatchTrail())).toEqual([]);
  });

  test('begin with the balances, which are locked last, and end with the idempotency keys', () => {
    const [trail, rows] = [new BatchTrail(), new WorkingSet(resources)];
    rows.apply(change, formatId('organization', '1'));
    trail.changes.push(change);
    trail.events.push({ id: 'evt_1' } as EventRow);
    trail.responses.push(key('org_1', 'app_1', 'a'));
    expect(written(trail, rows)).toEqual([
      ...['ledger_balances add 1', 'payments insert 1', 'events insert 1', 'timers put 1'],
      'idempotency insert 1',
    ]);
  });

  test('insert deliveries of events of the batch, and check the events of others', () => {
    const trail = new BatchTrail();
    trail.events.push({ id: 'evt_1' } as EventRow);
    trail.deliveries.push(delivery('dlv_1', 'evt_1'), delivery('dlv_2', 'evt_0'), delivery('dlv_3', 'evt_1'));
    const deliveries = trail
      .writes(new WorkingSet(resources), [])
      .filter(({ table }) => table.name === 'deliveries')
      .map(({ mode, rows }) => [mode, rows]);
    expect(deliveries).toEqual([
      ['insert', [delivery('dlv_1', 'evt_1'), delivery('dlv_3', 'evt_1')]],
      ['follow', [delivery('dlv_2', 'evt_0')]],
    ]);
  });

  test('replace the response of a request that was in progress', () => {
    const trail = new BatchTrail();
    trail.concluded.push(key('org_1', 'app_1', 'a'));
    expect(written(trail)).toEqual(['idempotency put 1']);
  });

  test('sort the idempotency keys', () => {
    const keys = [
      ...[key('org_2', 'app_1', 'a'), key('org_1', 'app_2', 'a'), key('org_1', 'app_1', 'b')],
      key('org_1', 'app_1', 'a'),
    ];
    for (const order of [keys, [...keys].reverse()]) {
      const trail = new BatchTrail();
      trail.responses.push(...order);
      const [write] = trail.writes(new WorkingSet(resources), []);
      expect(write?.rows).toEqual([...keys].reverse());
    }
  });
});
