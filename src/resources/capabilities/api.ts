import { Type } from 'typebox';
import { caseDescriptions, caseNames, severities } from '../../examiner/schema.ts';
import type { AnyResource } from '../../kernel/command.ts';
import { currencies } from '../../kernel/currency.ts';
import { declineCodes, declines, returnReasons, transferFailures } from '../../kernel/decline.ts';
import { apiVersion, apiVersions } from '../../kernel/envelope.ts';
import { type EventType, payloadSchema } from '../../kernel/event.ts';
import { limits } from '../../kernel/limits.ts';
import { scopes } from '../../kernel/permissions.ts';
import type { Route } from '../../kernel/route.ts';
import { paymentScenarios, transferScenarios } from '../../kernel/scenario.ts';
import { resource } from '../../kernel/schema.ts';
import { ratedCurrencies } from '../../ledger/fx-rates.ts';

const reasons = (known: Readonly<Record<string, string>>) =>
  Type.Array(Type.Object({ code: Type.Enum(Object.keys(known)), message: Type.String() }));

/** Everything that an integration can use, derived from the tables that the server itself runs on. */
export function capabilitiesRoute(resources: readonly AnyResource[], catalogue: readonly EventType[]): Route {
  const capabilities = presentCapabilities(resources, catalogue);
  return {
    operationId: 'getCapabilities',
    method: 'GET',
    path: 'developer_api_capabilities',
    scope: 'any',
    tag: 'Sandbox',
    summary:
      'API version, scopes, resources with their states and actions, currencies, event types and limits',
    responseName: 'Capabilities',
    response: capabilitiesSchema(catalogue.map(({ type }) => type)),
    read: () => capabilities,
  };
}

function presentCapabilities(resources: readonly AnyResource[], catalogue: readonly EventType[]) {
  const emitting = resources.filter(({ emitsEvents }) => emitsEvents);
  return {
    object: 'capabilities',
    sandbox: true,
    status: 'ok',
    apiVersion,
    apiVersions,
    scopes,
    resources: emitting.map(({ name, machine }) => ({
      name,
      states: machine.states,
      actions: machine.moves
        .filter(({ triggeredBy }) => triggeredBy === undefined)
        .map(({ action, from, to }) => ({ action, from, to })),
    })),
    eventTypes: catalogue.map(({ type }) => type),
    events: catalogue.map(({ type, resource: name, description, payload }) => ({
      type,
      resource: name,
      description,
      example: payload,
    })),
    eventSchemas: Object.fromEntries(emitting.map(({ name, schema }) => [name, schema])),
    examinationCases: caseNames.map((name) => ({ name, ...caseDescriptions[name] })),
    scenarios: paymentScenarios,
    declineCodes: declineCodes.map((code) => ({
      code,
      retryable: declines[code].isSoft,
      message: declines[code].description,
    })),
    transferScenarios: [
      ...transferScenarios,
      ...Object.keys(returnReasons).map((code) => `return:${code}`),
      ...Object.keys(transferFailures).map((code) => `fail:${code}`),
    ],
    returnCodes: Object.entries(returnReasons).map(([code, message]) => ({ code, message })),
    transferFailureCodes: Object.entries(transferFailures).map(([code, message]) => ({ code, message })),
    fxCurrencies: ratedCurrencies,
    currencies: currencies.map(({ code, exponent, name }) => ({ code, exponent, name })),
    limits,
  } as const;
}

function capabilitiesSchema(types: readonly string[]) {
  return resource('capabilities', ['ok'], {
    apiVersion: Type.String(),
    apiVersions: Type.Array(Type.String()),
    scopes: Type.Array(Type.Enum([...scopes])),
    resources: Type.Array(
      Type.Object({
        name: Type.String(),
        states: Type.Array(Type.String()),
        actions: Type.Array(
          Type.Object({
            action: Type.String(),
            from: Type.Array(Type.String()),
            to: Type.Array(Type.String()),
          }),
        ),
      }),
    ),
    eventTypes: Type.Array(Type.String()),
    events: Type.Array(
      Type.Object({
        type: Type.String(),
        resource: Type.String(),
        description: Type.String({ description: 'When the event is sent.' }),
        example: payloadSchema(types, Type.Record(Type.String(), Type.Unknown())),
      }),
    ),
    eventSchemas: Type.Record(Type.String(), Type.Unknown(), {
      description: 'By resource, the JSON Schema of the `data` in its events.',
    }),
    examinationCases: Type.Array(
      Type.Object({
        name: Type.Enum([...caseNames]),
        title: Type.String(),
        severity: Type.Enum([...severities]),
      }),
      { description: 'The cases of a webhook receiver examination.' },
    ),
    scenarios: Type.Array(Type.Enum([...paymentScenarios])),
    declineCodes: Type.Array(
      Type.Object({
        code: Type.Enum([...declineCodes]),
        retryable: Type.Boolean(),
        message: Type.String(),
      }),
    ),
    transferScenarios: Type.Array(Type.String(), {
      description: 'The known scenarios; `return:` and `fail:` also accept any other code.',
    }),
    returnCodes: reasons(returnReasons),
    transferFailureCodes: reasons(transferFailures),
    fxCurrencies: Type.Array(Type.String(), { description: 'Currencies that transfers support.' }),
    currencies: Type.Array(
      Type.Object({ code: Type.String(), exponent: Type.Integer({ minimum: 0 }), name: Type.String() }),
    ),
    limits: Type.Record(Type.String(), Type.Integer()),
  });
}
