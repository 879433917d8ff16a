import { Type } from 'typebox';
import { apiVersion } from '../../kernel/envelope.ts';
import type { idPrefixes } from '../../kernel/ids.ts';
import { scopes } from '../../kernel/permissions.ts';
import type { Route } from '../../kernel/route.ts';
import { id, nullable, resource, Time } from '../../kernel/schema.ts';
import { clockFace } from '../clocks/machine.ts';
import { findClock } from '../clocks/store.ts';
import { clockStates } from '../clocks/table.ts';

/** The capabilities of this sandbox, and the three that it never offers. */
const production = 'Needs separate production authorization, which is outside this sandbox.';
const gates: Readonly<Record<string, { readonly enabled: boolean; readonly reason: string | null }>> = {
  payments: { enabled: true, reason: null },
  refunds: { enabled: true, reason: null },
  disputes: { enabled: true, reason: null },
  ledger: { enabled: true, reason: null },
  transfers: { enabled: true, reason: null },
  clock: { enabled: true, reason: null },
  settlement: { enabled: true, reason: null },
  reconciliation: { enabled: true, reason: null },
  customers: { enabled: true, reason: null },
  idempotency: { enabled: true, reason: null },
  audit_trail: { enabled: true, reason: null },
  live_credentials: { enabled: false, reason: production },
  production_rails: { enabled: false, reason: production },
  real_money_execution: { enabled: false, reason: production },
};

const Named = <K extends keyof typeof idPrefixes>(kind: K) =>
  Type.Object({ id: id(kind), name: Type.String() });

export const statusRoute: Route = {
  operationId: 'getStatus',
  method: 'GET',
  path: 'developer_api_status',
  scope: 'any',
  tag: 'Sandbox',
  summary: 'The organization and application of the API key, and the enabled capabilities',
  responseName: 'ApiStatus',
  response: resource('api_status', ['ok'], {
    apiVersion: Type.String(),
    organization: Named('organization'),
    application: Named('application'),
    apiKey: Type.Object({
      id: id('api_key'),
      name: Type.String(),
      scopes: Type.Array(Type.Enum([...scopes])),
      mayReset: Type.Boolean({ description: 'Whether the key may reset the organization.' }),
    }),
    clock: Type.Object({ status: Type.Enum([...clockStates]), now: Time, offsetSeconds: Type.Integer() }),
    capabilities: Type.Record(
      Type.String(),
      Type.Object({ enabled: Type.Boolean(), reason: nullable(Type.String()) }),
    ),
  }),
  read: ({ principal, reader, now }) =>
    findClock(reader, principal, now).then((clock) => ({
      object: 'api_status',
      sandbox: true,
      status: 'ok',
      apiVersion,
      organization: { id: principal.orgId, name: principal.orgName },
      application: { id: principal.appId, name: principal.appName },
      apiKey: {
        ...{ id: principal.actor.id, name: principal.name },
        ...{ scopes: [...principal.scopes], mayReset: principal.mayReset },
      },
      clock: clockFace(clock, now),
      capabilities: gates,
    })),
};
