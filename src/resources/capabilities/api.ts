import { Type } from 'typebox';
import { caseDescriptions, caseNames, severities } from '../../examiner/schema.ts';
import { retryProfileNames, retryProfiles } from '../../kernel/application-settings.ts';
import { attemptErrors } from '../../kernel/attempt-errors.ts';
import type { AnyResource } from '../../kernel/command.ts';
import { currencies } from '../../kernel/currency.ts';
import { declineCodes, declines, returnReasons, transferFailures } from '../../kernel/decline.ts';
import { apiVersion, apiVersions, type Presented } from '../../kernel/envelope.ts';
import { type EventType, payloadSchema } from '../../kernel/event.ts';
import { entryReasons } from '../../kernel/ledger.ts';
import { limits } from '../../kernel/limits.ts';
import { amountMaximums, lifecycleMoves } from '../../kernel/machine.ts';
import { scopes, scopesNeeded } from '../../kernel/permissions.ts';
import type { Route } from '../../kernel/route.ts';
import { paymentScenarioEffects, paymentScenarios, transferScenarioEffects } from '../../kernel/scenario.ts';
import { resource } from '../../kernel/schema.ts';
import { ratedCurrencies } from '../../ledger/fx-rates.ts';
import { acceptedFields } from './field-views.ts';

const reasons = (known: Readonly<Record<string, string>>) =>
  Type.Array(Type.Object({ code: Type.Enum(Object.keys(known)), message: Type.String() }));

/** Everything that an integration can use, derived from the tables that the server itself runs on. */
export function capabilitiesRoute(
  resources: readonly AnyResource[],
  catalogue: readonly EventType[],
  /** A function, because this route is one of them. */
  routes: () => readonly Route[],
): Route {
  let capabilities: Presented | undefined;
  return {
    operationId: 'getCapabilities',
    method: 'GET',
    path: 'developer_api_capabilities',
    scope: 'any',
    tag: 'Sandbox',
    summary:
      'API version, scopes, resources with their states, actions and body fields, scenarios, currencies, event types and limits',
    responseName: 'Capabilities',
    response: capabilitiesSchema(catalogue.map(({ type }) => type)),
    read: () => {
      capabilities ??= presentCapabilities(resources, catalogue, routes());
      return capabilities;
    },
  };
}

function presentCapabilities(
  resources: readonly AnyResource[],
  catalogue: readonly EventType[],
  routes: readonly Route[],
): Presented {
  const emitting = resources.filter(({ emitsEvents }) => emitsEvents);
  return {
    object: 'capabilities',
    sandbox: true,
    status: 'ok',
    apiVersion,
    apiVersions,
    scopes,
    operationScopes: Object.fromEntries(
      routes
        .filter(({ scope }) => scopesNeeded(scope).length > 1)
        .map(({ operationId, scope }) => [operationId, scopesNeeded(scope)]),
    ),
    resources: emitting.map((emitted) => ({
      name: emitted.name,
      states: emitted.machine.states,
      actions: lifecycleMoves(emitted.machine)
        .filter(({ triggeredBy }) => triggeredBy === undefined)
        .map(({ action, from, to }) => ({ action, from, to })),
      ...acceptedFields(emitted, routes),
      amountMaximums: Object.fromEntries(
        emitted.machine.moves.flatMap(({ action, amountMaximum }) =>
          amountMaximum === undefined ? [] : [[action, amountMaximum]],
        ),
      ),
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
    transferScenarios: Object.keys(transferScenarioEffects),
    scenarioDescriptions: { payment: paymentScenarioEffects, transfer: transferScenarioEffects },
    returnCodes: Object.entries(returnReasons).map(([code, message]) => ({ code, message })),
    transferFailureCodes: Object.entries(transferFailures).map(([code, message]) => ({ code, message })),
    fxCurrencies: ratedCurrencies,
    currencies: currencies.map(({ code, exponent, name }) => ({ code, exponent, name })),
    ledgerReasons: entryReasons,
    retryProfiles: retryProfileNames.map((name) => ({ name, delaysSeconds: retryProfiles[name] })),
    attemptErrors: Object.values(attemptErrors),
    limits,
  };
}

function capabilitiesSchema(types: readonly string[]) {
  return resource('capabilities', ['ok'], {
    apiVersion: Type.String(),
    apiVersions: Type.Array(Type.String()),
    scopes: Type.Array(Type.Enum([...scopes])),
    operationScopes: Type.Record(Type.String(), Type.Array(Type.Enum([...scopes])), {
      description: 'By operation, the scopes that it needs, for the operations that need more than one.',
    }),
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
        actionFields: Type.Record(Type.String(), Type.Array(Type.String()), {
          description: 'By action, the body fields of the request that accepts it.',
        }),
        targetFields: Type.Record(Type.String(), Type.Array(Type.String()), {
          description: 'By state, the body fields that an advance with `to` accepts.',
        }),
        amountMaximums: Type.Record(Type.String(), Type.Enum([...amountMaximums]), {
          description: 'By action, the field of the record with the maximum `amount`.',
        }),
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
    scenarioDescriptions: Type.Object(
      {
        payment: Type.Record(Type.String(), Type.String()),
        transfer: Type.Record(Type.String(), Type.String()),
      },
      { description: 'By resource and scenario, what the simulated provider does; in Markdown.' },
    ),
    returnCodes: reasons(returnReasons),
    transferFailureCodes: reasons(transferFailures),
    fxCurrencies: Type.Array(Type.String(), { description: 'Currencies that transfers support.' }),
    currencies: Type.Array(
      Type.Object({ code: Type.String(), exponent: Type.Integer({ minimum: 0 }), name: Type.String() }),
    ),
    ledgerReasons: Type.Array(Type.String(), {
      description: 'The reasons of ledger entries, in the order of a record’s life.',
    }),
    retryProfiles: Type.Array(
      Type.Object({
        name: Type.Enum([...retryProfileNames]),
        delaysSeconds: Type.Array(Type.Integer({ minimum: 0 }), {
          description: 'The wait before each attempt, in seconds of the application clock.',
        }),
      }),
      { description: 'How often and when failed webhook deliveries are retried.' },
    ),
    attemptErrors: Type.Array(Type.Object({ prefix: Type.String(), advice: Type.String() }), {
      description:
        'What the `error` of a delivery attempt begins with, and what to check then. The first match applies.',
    }),
    limits: Type.Record(Type.String(), Type.Integer()),
  });
}
