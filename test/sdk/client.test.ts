import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { databaseKinds } from '../support/server.ts';
import { openWorld, type World } from './world.ts';

describe.each(databaseKinds)('the client against a server on %s', (kind) => {
  let world: World;
  beforeAll(async () => {
    world = await openWorld(kind);
  });
  afterAll(() => world?.close());

  test('creates, captures and refunds a payment', async () => {
    const { sandbank } = await world.client();
    const created = await sandbank.payments.create({ amount: 1250, currency: 'EUR' });
    expect(created).toMatchObject({ object: 'payment', status: 'pending', amount: 1250 });
    const captured = await sandbank.payments.advance(created.id, { to: 'captured' });
    expect(captured.status).toBe('captured');
    const refund = await sandbank.payments.refund(created.id, { amount: 250 }, { expand: 'ledgerEntries' });
    expect(refund).toMatchObject({ object: 'refund', amount: 250, paymentId: created.id });
    expect(refund.ledgerEntries?.length).toBeGreaterThan(0);
    const { status } = await sandbank.payments.retrieve(created.id);
    expect(status).toBe('partially_refunded');
    const moves = await sandbank.payments.history(created.id).toArray();
    expect(moves.map(({ action }) => action)).toContain('capture');
  });
});
