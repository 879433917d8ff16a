import type { Command } from 'commander';
import type { FaultPlan, FaultPlanCreate, ListFaultPlansQuery } from '../../sdk/client.ts';
import { declare, group } from '../declare.ts';
import { fieldValues } from '../generated/values.ts';
import { fields } from '../layout.ts';
import { type PageOptions, pageOptions, showPage, withoutUndefined } from '../paging.ts';
import { wrongUsage } from '../problem.ts';
import { choice, listOf, whole } from '../reading.ts';

const seedMax = 4_294_967_295;

interface CreateOptions {
  readonly count?: number;
  readonly share?: number;
  readonly seed?: number;
  readonly delayMs?: number;
  readonly code?: string;
  readonly retryAfter?: number;
  readonly copies?: number;
  readonly seconds?: number;
  readonly operations?: readonly string[];
  readonly methods?: readonly string[];
  readonly events?: readonly string[];
}

/** Each kind of fault, what it affects, and the options that configure it. */
const kinds: Readonly<
  Record<string, { readonly on: 'requests' | 'webhooks'; readonly of: (options: CreateOptions) => object }>
> = {
  latency: { on: 'requests', of: ({ delayMs }) => ({ delayMs: needed(delayMs, '--delay-ms') }) },
  error: {
    on: 'requests',
    of: ({ code, retryAfter }) =>
      withoutUndefined({ code: needed(code, '--code'), retryAfterSeconds: retryAfter }),
  },
  reset_connection: { on: 'requests', of: () => ({}) },
  lose_answer: { on: 'requests', of: () => ({}) },
  duplicate: { on: 'webhooks', of: ({ copies }) => withoutUndefined({ copies }) },
  reorder: { on: 'webhooks', of: () => ({}) },
  delay: { on: 'webhooks', of: ({ seconds }) => ({ seconds: needed(seconds, '--seconds') }) },
  drop: { on: 'webhooks', of: () => ({}) },
};

const kindsOf = (on: 'requests' | 'webhooks') =>
  Object.keys(kinds)
    .filter((name) => kinds[name]?.on === on)
    .join(', ');

export function addFaults(program: Command): void {
  const faults = group(program, 'faults', 'Make API requests and webhooks fail on purpose');
  addCreate(faults);
  addList(faults);
  addGet(faults);
  addCancel(faults);
}

function addCreate(faults: Command): void {
  declare<CreateOptions>(faults, 'create <fault>', {
    summary: 'Create a fault plan for requests or webhooks',
    arguments: { fault: choice(...Object.keys(kinds)) },
    details: `Request faults: ${kindsOf('requests')}. Webhook faults: ${kindsOf('webhooks')}. --count affects the next requests, --share a percentage of them; together, a percentage until the count is reached. The same --seed affects the same ones.`,
    options: [
      ['--count <count>', 'number to affect', whole(1, 10_000)],
      ['--share <percent>', 'percentage to affect', whole(1, 100)],
      ['--seed <number>', 'seed of the selection (default: random)', whole(0, seedMax)],
      ['--delay-ms <ms>', 'latency: how long requests wait', whole(1, 60_000)],
      [
        '--code <code>',
        'error: rate_limited, internal_error or service_unavailable',
        choice(...fieldValues.createFaultPlan.code),
      ],
      ['--retry-after <seconds>', 'error: value of the Retry-After header', whole(0, 3_600)],
      ['--copies <count>', 'duplicate: number of additional copies (1)', whole(1, 5)],
      ['--seconds <seconds>', 'delay: how much later, by the application clock', whole(1, 86_400)],
      [
        '--operations <ids>',
        'only these operations, such as createPayment',
        listOf(fieldValues.createFaultPlan.operations),
      ],
      ['--methods <methods>', 'only GET or POST', listOf(fieldValues.createFaultPlan.methods)],
      ['--events <types>', 'only these event types', listOf(fieldValues.createFaultPlan.eventTypes)],
    ],
    examples: [
      ['faults create error --code service_unavailable --count 3', 'the next three requests fail'],
      [
        'faults create lose_answer --count 1 --operations createPayment',
        'the payment is created, but the response is lost',
      ],
      ["faults create duplicate --share 20 --events 'payment.*'"],
    ],
    run: async (session, options, name = '') => {
      const kind = kinds[name];
      if (kind === undefined) throw new Error(`the fault ${name} has no entry`);
      const { count, share, seed, operations, methods, events } = options;
      if (count === undefined && share === undefined) throw wrongUsage('--count or --share is missing.');
      const argument = withoutUndefined({
        on: kind.on,
        fault: { type: name, ...kind.of(options) },
        count,
        share,
        seed,
        operations,
        methods,
        eventTypes: events,
      });
      const plan = await (await session.sandbank()).faultPlans.create(argument as FaultPlanCreate);
      session.out.show(plan, () => planText(plan));
      return undefined;
    },
  });
}

function addList(faults: Command): void {
  declare<PageOptions & { readonly status?: string }>(faults, 'list', {
    summary: 'List fault plans, newest first',
    options: [
      ['--status <state>', 'active, exhausted or canceled', choice(...fieldValues.listFaultPlans.status)],
      ...pageOptions,
    ],
    examples: [['faults list --status active']],
    run: async (session, { status, limit, cursor }) => {
      const query = withoutUndefined({ status, limit, cursor }) as ListFaultPlansQuery;
      const page = (await session.sandbank()).faultPlans.list(query);
      await showPage(session.out, page, ['PLAN', 'STATUS', 'FAULT', 'ON', 'SEEN', 'AFFECTED'], (one) => [
        one.id,
        one.status,
        one.fault.type,
        one.on,
        String(one.seen),
        String(one.applied),
      ]);
      return undefined;
    },
  });
}

function addGet(faults: Command): void {
  declare(faults, 'get <id>', {
    summary: 'Show a fault plan and how many requests or webhooks it has affected',
    examples: [['faults get flt_...']],
    run: async (session, _options, id = '') => {
      const plan = await (await session.sandbank()).faultPlans.retrieve(id);
      session.out.show(plan, () => planText(plan));
      return undefined;
    },
  });
}

function addCancel(faults: Command): void {
  declare(faults, 'cancel <id>', {
    summary: 'End a fault plan',
    examples: [['faults cancel flt_...']],
    run: async (session, _options, id = '') => {
      const plan = await (await session.sandbank()).faultPlans.cancel(id);
      session.out.show(plan, () => planText(plan));
      return undefined;
    },
  });
}

function needed<T>(value: T | undefined, flag: string): T {
  if (value === undefined) throw wrongUsage(`${flag} is missing for this fault.`);
  return value;
}

function planText({ id, status, on, fault, count, share, seed, seen, applied }: FaultPlan): string {
  const bounds = [share === null ? '' : `${share}%`, count === null ? '' : `at most ${count}`]
    .filter(Boolean)
    .join(', ');
  return fields([
    ['plan', id],
    ['status', status],
    ['fault', `${fault.type} on ${on}`],
    ['bounds', bounds],
    ['seed', seed],
    ['so far', `${applied} of ${seen} ${on} affected`],
  ]);
}
