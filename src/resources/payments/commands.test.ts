import { describe, expect, test } from 'vitest';
import { paymentSituations, reach } from '../../../test/model/situations.ts';
import { CommandRunner, expectOk } from '../../../test/support/command-runner.ts';

const payments = 'developer_api_payments';
const start = Date.parse('2031-03-04T10:00:00.000Z');
const second = 1_000;

function created(body: object = {}) {
  const runner = new CommandRunner({ now: start });
  const { id } = expectOk(runner.post(payments, { amount: 10_000, currency: 'EUR', ...body }));
  return { runner, id: String(id), payment: () => runner.show(String(id)) };
}

describe('an update of a payment', () => {
  test('replaces the metadata as a whole and leaves absent fields as they are', () => {
    const { runner, id, payment } = created({ description: 'Order 1', metadata: { cart: '1', size: 'L' } });
    expectOk(runner.post(`${payments}/${id}/update`, { metadata: { cart: '2' } }));
    expect(payment()).toMatchObject({ description: 'Order 1', metadata: { cart: '2' }, version: 2 });
    expectOk(runner.post(`${payments}/${id}/update`, { description: null }));
    expect(payment()).toMatchObject({ description: null, metadata: { cart: '2' }, version: 3 });
  });

  test('emits payment.updated and has a row in the history, and posts nothing', () => {
    const { runner, id } = created();
    const { events, history, entries, providerEvents } = runner.written;
    const before = [events.length, history.length];
    expectOk(runner.post(`${payments}/${id}/update`, { description: 'Order 1' }));
    expect([events.length, history.length]).toEqual(before.map((count) => count + 1));
    expect(events.at(-1)).toMatchObject({ type: 'payment.updated', resourceId: id, sequence: 2 });
    expect(history.at(-1)).toMatchObject({ action: 'update', fromStatus: 'pending', toStatus: 'pending' });
    expect(entries).toEqual([]);
    expect(providerEvents).toEqual([]);
  });

  test.each(paymentSituations)('is possible for a payment $name, and changes nothing else', (situation) => {
    const { runner, paymentId: id } = reach(situation);
    const { requestId: _before, ...before } = runner.show(id);
    expectOk(runner.post(`${payments}/${id}/update`, { description: 'Order 1' }));
    const { requestId: _after, ...after } = runner.show(id);
    expect(after).toEqual({
      ...before,
      description: 'Order 1',
      version: Number(before.version) + 1,
      updatedAt: after.updatedAt,
    });
    expect(after.allowedActions).not.toContain('update');
  });

  test.each([[{}], [{ description: '' }], [{ metadata: null }], [{ amount: 5 }]])(
    'with the body %j is refused',
    (body) => {
      const { runner, id, payment } = created();
      expect(runner.post(`${payments}/${id}/update`, body).status).toBe(400);
      expect(payment()).toMatchObject({ version: 1 });
    },
  );

  test('does not delay what the payment waits for', () => {
    const due = (edits: number) => {
      const { runner, id } = created({ autoAdvance: true });
      for (let edit = 0; edit < edits; edit += 1) {
        runner.advance(second / 10);
        expectOk(runner.post(`${payments}/${id}/update`, { description: `Edit ${edit}` }));
      }
      const to = new Date(start + 7 * 86_400 * second).toISOString();
      const { happened } = expectOk(runner.post('developer_api_clock/advance', { to }));
      return (happened as readonly { at: string; action: string }[]).map(({ at, action }) => [at, action]);
    };
    expect(due(0)).not.toEqual([]);
    expect(due(2)).toEqual(due(0));
  });
});
