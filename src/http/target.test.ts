import { describe, expect, test } from 'vitest';
import type { Principal, ServedRoute, WriteRoute } from '../kernel/route.ts';
import { assertTarget, targetOf } from './target.ts';

const suffix = '01h455vb4pex5vsknk084sn02q';
const principal = { orgId: `org_${suffix}`, appId: `app_${suffix}` } as Principal;
const route = (fields: object) =>
  ({ operationId: 'x', method: 'POST', path: 'x', ...fields }) as ServedRoute & WriteRoute;

describe('the target of a request', () => {
  test.each<[what: string, fields: object, params: object, target: object | null]>([
    ['a read has none', { method: 'GET', target: 'payment' }, { id: 'pay_1' }, null],
    ['a write without a target has none', { target: null }, { id: 'pay_1' }, null],
    [
      'the id in the path is a claim of the caller',
      { target: 'payment' },
      { id: 'pay_1' },
      { resource: 'payment', id: 'pay_1', isClaimed: true },
    ],
    ['a missing id is empty', { target: 'payment' }, {}, { resource: 'payment', id: '', isClaimed: true }],
    [
      'the organization is that of the caller',
      { target: 'organization' },
      { id: 'org_other' },
      { resource: 'organization', id: `org_${suffix}`, isClaimed: false },
    ],
    [
      'the clock is that of the application',
      { target: 'clock' },
      {},
      { resource: 'clock', id: `clk_${suffix}`, isClaimed: false },
    ],
  ])('%s', (_what, fields, params, target) => {
    expect(targetOf(route(fields), { params }, principal)).toEqual(target);
  });
});

describe('at startup', () => {
  test.each([
    ['x/{id}', 'payment', true],
    ['x/{id}/capture', 'payment', true],
    ['x/{id}', null, false],
    ['x/{id}', 'clock', false],
    ['x', null, true],
    ['x', 'clock', true],
    ['x', 'organization', true],
    ['x', 'payment', false],
  ])('the path %s with the target %s: accepted is %s', (path, target, isAccepted) => {
    const check = () => assertTarget(route({ path, target }));
    if (isAccepted) expect(check).not.toThrow();
    else expect(check).toThrow(/^x has /);
  });
});
