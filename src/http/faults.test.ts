import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { FaultCounter } from '../engine/fault-counter.ts';
import { formatId } from '../kernel/ids.ts';
import type { ActivePlan, RequestFault } from '../resources/fault-plans/table.ts';
import { RequestFaults } from './faults.ts';

type Database = ConstructorParameters<typeof FaultCounter>[0];

afterEach(() => vi.useRealTimers());

const route = { path: 'developer_api_payments', operationId: 'createPayment', method: 'POST' } as const;

const plan = (
  name: string,
  fault: RequestFault,
  fields: Partial<ActivePlan> = {},
): ActivePlan<RequestFault> => ({
  ...{
    orgId: formatId('organization', '1'),
    id: name as ActivePlan['id'],
    appId: formatId('application', '1'),
    seed: 1,
    share: null,
  },
  ...{ operations: null, methods: null, eventTypes: null, ...fields, fault },
});

/** Fault injection with plans and the ids of those that hit; returns the counted plans and the response. */
function setUp(plans: readonly ActivePlan<RequestFault>[] | null, hits: readonly string[]) {
  const counted: string[] = [];
  const query = (_statement: unknown, [, ids]: readonly [Buffer, Buffer]) => {
    const { id = '' } = plans?.find((one) => ids.includes(one.id)) ?? {};
    counted.push(id);
    return Promise.resolve([
      { orgId: formatId('organization', '1'), id, isHit: hits.includes(id), isOver: false },
    ]);
  };
  let close = () => {};
  const app = {
    decorateRequest: () => app,
    addHook: (_name: string, hook: (done: () => void) => void) => {
      close = () => hook(() => {});
    },
  };
  const counter = new FaultCounter({ query } as unknown as Database, () => 0);
  const faults = new RequestFaults(app as unknown as FastifyInstance, counter, () => 'https://docs.example');
  const sent: { status?: number; headers: Record<string, unknown>; body?: string } = { headers: {} };
  const request = {
    id: formatId('request', '1'),
    faultPlans: plans,
    faultPlan: null,
  } as unknown as FastifyRequest;
  const reply = {
    request,
    code: (status: number) => {
      sent.status = status;
      return reply;
    },
    header: (name: string, value: unknown) => reply.headers({ [name]: value }),
    headers: (some: object) => {
      Object.assign(sent.headers, some);
      return reply;
    },
    getHeaders: () => sent.headers,
    hijack: () => reply,
    raw: {
      writeHead: (status: number) => {
        sent.status = status;
        return reply.raw;
      },
      end: (body: string) => {
        sent.body = body;
      },
    },
  };
  const inject = (at: Parameters<RequestFaults['inject']>[2] = route) =>
    faults.inject(request, reply as unknown as FastifyReply, at);
  return { inject, close: () => close(), counted, sent, request };
}

const lose: RequestFault = { type: 'lose_answer' };

describe('a request', () => {
  test('without plans is answered as usual', async () => {
    const { inject, sent } = setUp(null, []);
    expect([await inject(), sent.headers]).toEqual([false, {}]);
  });

  test('is hit by the oldest matching plan that hits', async () => {
    const plans = [
      ...[plan('other operation', lose, { operations: ['listPayments'] })],
      ...[plan('other method', lose, { methods: ['GET'] }), plan('misses', lose)],
      ...[plan('hits', lose, { operations: ['createPayment'], methods: ['POST'] }), plan('later', lose)],
    ];
    const { inject, counted, sent, request } = setUp(plans, [
      'other operation',
      'other method',
      'hits',
      'later',
    ]);
    expect(await inject()).toBe(false);
    expect(counted).toEqual(['misses', 'hits']);
    expect(sent.headers).toEqual({ 'Sandbank-Fault': 'hits' });
    expect(request.faultPlan?.id).toBe('hits');
  });

  test.each(['developer_api_fault_plans', 'developer_api_clock', 'developer_api_reset'])(
    'to %s is never hit, and does not count',
    async (path) => {
      const { inject, counted } = setUp([plan('a', { type: 'error', code: 'internal_error' })], ['a']);
      expect([await inject({ ...route, path }), counted]).toEqual([false, []]);
    },
  );
});

test.each<[fault: Extract<RequestFault, { type: 'error' }>, status: number, retryAfter: number | undefined]>([
  [{ type: 'error', code: 'internal_error' }, 500, undefined],
  [{ type: 'error', code: 'internal_error', retryAfterSeconds: 7 }, 500, 7],
  [{ type: 'error', code: 'rate_limited' }, 429, 1],
  [{ type: 'error', code: 'service_unavailable', retryAfterSeconds: 0 }, 503, 0],
  [{ type: 'error', code: 'service_unavailable' }, 503, 1],
])('the error %o is sent with the status %s and Retry-After %s', async (fault, status, retryAfter) => {
  const { inject, sent } = setUp([plan(formatId('fault_plan', '1'), fault)], ['flt_1']);
  expect(await inject()).toBe(true);
  expect([sent.status, sent.headers['Retry-After']]).toEqual([status, retryAfter]);
  expect(sent.headers['Sandbank-Fault']).toBe(formatId('fault_plan', '1'));
  const { error } = JSON.parse(sent.body ?? '') as { error: { code: string; message: string } };
  expect(error.code).toBe(fault.code);
  expect(error.message).toMatch(/^Fault plan flt_1: this error was injected/);
});

describe('latency', () => {
  const slow = () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    const one = setUp([plan('a', { type: 'latency', delayMs: 5_000 })], ['a']);
    let result: boolean | undefined;
    const begin = async () => {
      void one.inject().then((isEnded) => {
        result = isEnded;
      });
      await settle();
    };
    const settle = () => new Promise((resolve) => setImmediate(resolve));
    const resultAfter = async (ms: number) => {
      vi.advanceTimersByTime(ms);
      await settle();
      return result;
    };
    return { ...one, begin, resultAfter };
  };

  test('delays the request for the time in the plan, then continues', async () => {
    const { begin, resultAfter } = slow();
    await begin();
    expect(await resultAfter(4_999)).toBeUndefined();
    expect(await resultAfter(1)).toBe(false);
  });

  test('ends when the server closes', async () => {
    const { begin, resultAfter, close } = slow();
    await begin();
    close();
    expect(await resultAfter(0)).toBe(false);
    expect(vi.getTimerCount()).toBe(0);
  });

  test('does not begin while the server closes', async () => {
    const { begin, resultAfter, close } = slow();
    close();
    await begin();
    expect(await resultAfter(0)).toBe(false);
  });
});
