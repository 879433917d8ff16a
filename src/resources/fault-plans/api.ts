import { type Static, type TSchema, Type } from 'typebox';
import type { Resource } from '../../kernel/command.ts';
import { refuse } from '../../kernel/errors.ts';
import { idFrom, isId } from '../../kernel/ids.ts';
import { limits } from '../../kernel/limits.ts';
import { listHandler, type Route } from '../../kernel/route.ts';
import { component, id, list, listQuery, nullable, resource, strict, Time } from '../../kernel/schema.ts';
import { writeRoute } from '../../kernel/write-route.ts';
import {
  cancelFaultPlan,
  createFaultPlan,
  type FaultPlanFields,
  faultPlanMachine,
  presentFaultPlan,
} from './machine.ts';
import { prepareCreateFaultPlan } from './prepare.ts';
import { findFaultPlan } from './store.ts';
import {
  type FaultPlanRow,
  faultCodes,
  faultPlanStates,
  faultPlansTable,
  faultTargets,
  isForRoute,
  isSpared,
} from './table.ts';

const methods = ['GET', 'POST'] as const;

const copiesDefault = 1;

const RequestFaults = [
  strict(
    { type: Type.Literal('latency'), delayMs: Type.Integer({ minimum: 1, maximum: limits.faultDelayMsMax }) },
    { ...component('LatencyFault'), description: 'The request is delayed before it is processed.' },
  ),
  strict(
    {
      type: Type.Literal('error'),
      code: Type.Enum([...faultCodes]),
      retryAfterSeconds: Type.Optional(
        Type.Integer({
          minimum: 0,
          maximum: limits.faultRetryAfterSecondsMax,
          description:
            'Value of the Retry-After header. If absent: 1 second, and no header with `internal_error`.',
        }),
      ),
    },
    {
      ...component('ErrorFault'),
      description: 'The request is not processed, and the response is this error.',
    },
  ),
  strict(
    { type: Type.Literal('reset_connection') },
    {
      ...component('ResetConnectionFault'),
      description: 'The request is not processed, and the connection is reset.',
    },
  ),
  strict(
    { type: Type.Literal('lose_answer') },
    {
      ...component('LoseAnswerFault'),
      description: 'The request is processed, and the connection is closed without a byte of the response.',
    },
  ),
] as const;

const WebhookFaults = [
  strict(
    {
      type: Type.Literal('duplicate'),
      copies: Type.Optional(
        Type.Integer({ minimum: 1, maximum: limits.faultCopiesMax, default: copiesDefault }),
      ),
    },
    { ...component('DuplicateFault'), description: 'The same bytes are sent again, `copies` times.' },
  ),
  strict(
    { type: Type.Literal('reorder') },
    {
      ...component('ReorderFault'),
      description: 'The delivery waits until the next event of the endpoint has been sent.',
    },
  ),
  strict(
    {
      type: Type.Literal('delay'),
      seconds: Type.Integer({ minimum: 1, maximum: limits.faultDelaySecondsMax }),
    },
    {
      ...component('DelayFault'),
      description: 'The delivery is sent `seconds` later on the application clock.',
    },
  ),
  strict(
    { type: Type.Literal('drop') },
    {
      ...component('DropFault'),
      description: 'The first attempt is not sent and counts as failed; the delivery is retried.',
    },
  ),
] as const;

const bounds = {
  count: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: limits.faultCountMax,
      description: 'How many matches are affected before the plan ends.',
    }),
  ),
  share: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: limits.faultShareMax,
      description: 'Percentage of matches that are affected.',
    }),
  ),
  seed: Type.Optional(
    Type.Integer({
      minimum: 0,
      maximum: limits.faultSeedMax,
      description:
        'Selects the affected matches: the same seed selects the same matches. If absent, a seed is chosen.',
    }),
  ),
} as const;
const oneBound = { anyOf: [{ required: ['count'] }, { required: ['share'] }] };

const uniqueList = <T extends TSchema>(item: T, itemsMax: number, description: string) =>
  Type.Array(item, { minItems: 1, maxItems: itemsMax, uniqueItems: true, description });

const FaultPlanSchema = resource('fault_plan', faultPlanStates, {
  id: id('fault_plan'),
  on: Type.Enum([...faultTargets]),
  fault: Type.Union([...RequestFaults, ...WebhookFaults]),
  count: nullable(Type.Integer()),
  share: nullable(Type.Integer()),
  seed: Type.Integer(),
  operations: nullable(Type.Array(Type.String())),
  methods: nullable(Type.Array(Type.Enum([...methods]))),
  eventTypes: nullable(Type.Array(Type.String())),
  seen: Type.Integer({ minimum: 0, description: 'Number of matches so far.' }),
  applied: Type.Integer({ minimum: 0, description: 'Number of matches that were affected.' }),
  createdAt: Time,
  updatedAt: Time,
});

export const faultPlanResource: Resource<FaultPlanRow> = {
  name: 'fault_plan',
  table: faultPlansTable,
  machine: faultPlanMachine,
  present: presentFaultPlan,
  emitsEvents: false,
};

interface RequestedPlan {
  readonly on: FaultPlanRow['target'];
  readonly fault: Static<(typeof RequestFaults)[number]> | Static<(typeof WebhookFaults)[number]>;
  readonly count?: number;
  readonly share?: number;
  readonly seed?: number;
  readonly operations?: readonly string[];
  readonly methods?: readonly string[];
  readonly eventTypes?: readonly string[];
}

function fieldsOf({ on, fault, count, share, ...filters }: RequestedPlan): FaultPlanFields {
  return {
    target: on,
    fault: fault.type === 'duplicate' ? { type: fault.type, copies: fault.copies ?? copiesDefault } : fault,
    count: count ?? null,
    share: share ?? null,
    operations: filters.operations ?? null,
    methods: filters.methods ?? null,
    eventTypes: filters.eventTypes ?? null,
  };
}

const meta = { tag: 'Faults', response: FaultPlanSchema, responseName: 'FaultPlan' } as const;
const writing = { ...meta, method: 'POST', scope: ['payments:write', 'transfers:write'] } as const;
const reading = { ...meta, method: 'GET', scope: 'any' } as const;

/** A plan may name the operations of these routes and these event filters. */
export function faultPlanRoutes(
  routes: readonly Pick<Route, 'operationId' | 'path' | 'method'>[],
  eventFilters: readonly string[],
): readonly Route[] {
  const injectable = routes.filter(({ path }) => !isSpared(path));
  const operations = injectable.map(({ operationId }) => operationId);
  /** Whether no operation of a request plan uses any of its methods. */
  const isPointless = ({ target, ...filters }: FaultPlanFields) =>
    target === 'requests' && !injectable.some((route) => isForRoute(filters, route));
  const CreateBody = Type.Union([
    strict(
      {
        on: Type.Literal('requests'),
        fault: Type.Union([...RequestFaults]),
        ...bounds,
        operations: Type.Optional(
          uniqueList(
            Type.Enum(operations),
            operations.length,
            'Only these operations; if absent, all operations that faults can affect.',
          ),
        ),
        methods: Type.Optional(uniqueList(Type.Enum([...methods]), methods.length, 'HEAD counts as GET.')),
      },
      { ...component('RequestFaultPlanCreate'), ...oneBound },
    ),
    strict(
      {
        on: Type.Literal('webhooks'),
        fault: Type.Union([...WebhookFaults]),
        ...bounds,
        eventTypes: Type.Optional(
          uniqueList(
            Type.Enum([...eventFilters]),
            limits.webhookEventTypesMax,
            '`*`, all events of a resource such as `payment.*`, or single types. If absent, all.',
          ),
        ),
      },
      { ...component('WebhookFaultPlanCreate'), ...oneBound },
    ),
  ]);
  const page = listHandler('fault_plan', faultPlansTable, ['appId', 'status'], presentFaultPlan);
  return [
    writeRoute({
      ...writing,
      operationId: 'createFaultPlan',
      path: 'developer_api_fault_plans',
      summary: 'Inject faults into requests or webhooks of the application: the next few, or a percentage',
      body: CreateBody,
      bodyName: 'FaultPlanCreate',
      target: null,
      command: createFaultPlan,
      input: ({ body }) => {
        const fields = fieldsOf(body);
        return { fields, seed: body.seed, isPointless: isPointless(fields) };
      },
      prepare: prepareCreateFaultPlan,
    }),
    {
      ...reading,
      operationId: 'listFaultPlans',
      path: 'developer_api_fault_plans',
      summary: 'List the fault plans of the application, newest first',
      query: listQuery(faultPlanStates),
      response: list(FaultPlanSchema),
      responseName: 'FaultPlanList',
      read: ({ reader, principal, query }) =>
        page({ reader, principal, query: { ...(query as object), appId: principal.appId } }),
    },
    {
      ...reading,
      operationId: 'retrieveFaultPlan',
      path: 'developer_api_fault_plans/{id}',
      summary: 'Retrieve a fault plan with its match counts',
      read: async ({ reader, principal, params }) => {
        const planId = params.id ?? '';
        const { orgId, appId } = principal;
        const row = isId('fault_plan', planId)
          ? await findFaultPlan(reader, orgId, appId, planId)
          : undefined;
        return row ? presentFaultPlan(row) : refuse('resource_not_found');
      },
    },
    writeRoute({
      ...writing,
      operationId: 'cancelFaultPlan',
      path: 'developer_api_fault_plans/{id}/cancel',
      summary: 'Cancel a fault plan: it affects no further matches',
      target: 'fault_plan',
      command: cancelFaultPlan,
      input: ({ params }) => ({ id: idFrom('fault_plan', params.id) }),
    }),
  ];
}
