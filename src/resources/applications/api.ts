import { Type } from 'typebox';
import {
  type ApplicationSettings,
  ratePattern,
  retryProfileNames,
} from '../../kernel/application-settings.ts';
import type { Resource } from '../../kernel/command.ts';
import { idFrom } from '../../kernel/ids.ts';
import { limits } from '../../kernel/limits.ts';
import { instantToText } from '../../kernel/list.ts';
import { type ConsoleRoute, listHandler, retrieveHandler } from '../../kernel/route.ts';
import { id, list, listQuery, nullable, resource, strict, Time, text } from '../../kernel/schema.ts';
import { consoleWriteRoute } from '../../kernel/write-route.ts';
import {
  applicationMachine,
  archiveApplication,
  createApplication,
  restoreApplication,
  updateApplication,
} from './machine.ts';
import { prepareCreateApplication, prepareUpdateApplication } from './prepare.ts';
import { type ApplicationRow, applicationsTable } from './table.ts';

/** Applications are created in the console or by the seed file. An API key reads its own with `developer_api_status`. */
export const applicationResource: Resource<ApplicationRow> = {
  name: 'application',
  table: applicationsTable,
  machine: applicationMachine,
  emitsEvents: false,
  present: (row) => ({
    object: 'application',
    sandbox: true,
    status: row.status,
    id: row.id,
    name: row.name,
    fee: { basisPoints: row.feeBasisPoints, fixedAmount: Number(row.feeFixed) },
    provider: row.provider,
    fx: { marginBasisPoints: row.fxMarginBasisPoints, rates: row.fxRates },
    webhookDefaults: row.webhookDefaults,
    createdAt: instantToText(row.createdAt),
    updatedAt: instantToText(row.updatedAt),
  }),
};

const applicationSchema = (providers: readonly string[]) =>
  resource('application', applicationMachine.states, {
    id: id('application'),
    name: Type.String(),
    fee: Type.Object({ basisPoints: Type.Integer(), fixedAmount: Type.Integer() }),
    provider: nullable(Type.Enum([...providers])),
    fx: Type.Object({
      marginBasisPoints: Type.Integer(),
      rates: Type.Record(Type.String(), Type.String()),
    }),
    webhookDefaults: Type.Object({
      eventTypes: Type.Array(Type.String()),
      retryProfile: Type.Enum([...retryProfileNames]),
      maxConcurrency: Type.Integer(),
    }),
    createdAt: Time,
    updatedAt: Time,
  });

/** The application settings besides the name, for the console and the seed file. */
export function settingsSchema(providers: readonly string[], eventFilters: readonly string[]) {
  return {
    fee: Type.Optional(
      strict(
        {
          basisPoints: Type.Integer({
            minimum: 0,
            maximum: limits.feeBasisPointsMax,
            description: 'Share of the amount, in hundredths of a percent: 290 is 2.9 %.',
          }),
          fixedAmount: Type.Integer({
            minimum: 0,
            maximum: limits.amountMax,
            description: 'Fixed part, in minor units of the currency.',
          }),
        },
        { description: 'Fee for each captured payment.' },
      ),
    ),
    provider: Type.Optional(
      Type.Union([Type.Enum([...providers]), Type.Null()], {
        description: 'Simulated provider of all payments. With null the payment method decides.',
      }),
    ),
    fx: Type.Optional(
      strict(
        {
          marginBasisPoints: Type.Optional(
            Type.Integer({
              minimum: 0,
              maximum: limits.fxMarginMax,
              description: 'Margin on the exchange rate, in hundredths of a percent.',
            }),
          ),
          rates: Type.Optional(
            Type.Record(
              Type.String({ pattern: '^[A-Z]{3}/[A-Z]{3}$' }),
              Type.String({ pattern: ratePattern, description: 'Decimal number in quotes.' }),
              {
                maxProperties: limits.fxRatesMax,
                additionalProperties: false,
                description:
                  'Exchange rates that replace those of the built-in table, such as "EUR/USD": "1.25".',
              },
            ),
          ),
        },
        { description: 'Exchange rates for transfers.' },
      ),
    ),
    webhookDefaults: Type.Optional(
      strict(
        {
          eventTypes: Type.Array(Type.Enum([...eventFilters]), {
            minItems: 1,
            maxItems: limits.webhookEventTypesMax,
            uniqueItems: true,
            description: '`*`, all events of a resource such as `payment.*`, or single types.',
          }),
          retryProfile: Type.Enum([...retryProfileNames], {
            description: 'How failed deliveries are retried.',
          }),
          maxConcurrency: Type.Integer({
            minimum: 1,
            maximum: limits.webhookConcurrencyMax,
            description: 'Concurrent requests to an endpoint.',
          }),
        },
        { description: 'Settings of webhooks that are created without their own.' },
      ),
    ),
  };
}

export interface RequestedSettings {
  readonly fee?: { readonly basisPoints: number; readonly fixedAmount: number };
  readonly provider?: string | null;
  readonly fx?: { readonly marginBasisPoints?: number; readonly rates?: Readonly<Record<string, string>> };
  readonly webhookDefaults?: ApplicationSettings['webhookDefaults'];
}

/** Omitted settings do not change. */
export function settingsOf({
  fee,
  provider,
  fx,
  webhookDefaults,
}: RequestedSettings): Partial<ApplicationSettings> {
  return {
    ...(fee ? { feeBasisPoints: fee.basisPoints, feeFixed: BigInt(fee.fixedAmount) } : {}),
    ...(provider === undefined ? {} : { provider }),
    ...(fx?.marginBasisPoints === undefined ? {} : { fxMarginBasisPoints: fx.marginBasisPoints }),
    ...(fx?.rates === undefined ? {} : { fxRates: fx.rates }),
    ...(webhookDefaults === undefined ? {} : { webhookDefaults }),
  };
}

export function applicationRoutes(
  providers: readonly string[],
  eventFilters: readonly string[],
): readonly ConsoleRoute[] {
  const Name = text(limits.nameLengthMax);
  const settings = settingsSchema(providers, eventFilters);
  const CreateBody = strict({ name: Name, ...settings });
  const UpdateBody = strict({ name: Type.Optional(Name), ...settings }, { minProperties: 1 });
  const response = applicationSchema(providers);
  const meta = { level: 'organization', response, responseName: 'Application' } as const;
  return [
    {
      operationId: 'listApplications',
      method: 'GET',
      path: 'applications',
      level: meta.level,
      response: list(response),
      responseName: 'ApplicationList',
      role: 'viewer',
      summary: 'List the applications of the organization, newest first',
      query: listQuery(applicationMachine.states),
      read: listHandler('application', applicationsTable, ['status'], applicationResource.present),
    },
    {
      operationId: 'retrieveApplication',
      method: 'GET',
      path: 'applications/{id}',
      ...meta,
      role: 'viewer',
      summary: 'Retrieve an application with its settings',
      read: retrieveHandler('application', applicationsTable, applicationResource.present),
    },
    consoleWriteRoute({
      operationId: 'createApplication',
      method: 'POST',
      path: 'applications',
      ...meta,
      role: 'developer',
      summary: 'Register an application',
      body: CreateBody,
      target: null,
      command: createApplication,
      input: ({ body }) => {
        const { name, ...requested } = body;
        return { name, settings: settingsOf(requested) };
      },
      prepare: prepareCreateApplication,
    }),
    consoleWriteRoute({
      operationId: 'updateApplication',
      method: 'POST',
      path: 'applications/{id}/update',
      ...meta,
      role: 'developer',
      summary: 'Rename an application or change its settings',
      body: UpdateBody,
      target: 'application',
      command: updateApplication,
      input: ({ params, body }) => {
        const { name, ...requested } = body;
        const patch = { ...(name === undefined ? {} : { name }), ...settingsOf(requested) };
        return { id: idFrom('application', params.id), patch };
      },
      prepare: prepareUpdateApplication,
    }),
    consoleWriteRoute({
      operationId: 'archiveApplication',
      method: 'POST',
      path: 'applications/{id}/archive',
      ...meta,
      role: 'admin',
      summary: 'Archive an application: its keys stop working, its records stay',
      target: 'application',
      command: archiveApplication,
      input: ({ params }) => ({ id: idFrom('application', params.id) }),
    }),
    consoleWriteRoute({
      operationId: 'restoreApplication',
      method: 'POST',
      path: 'applications/{id}/restore',
      ...meta,
      role: 'admin',
      summary: 'Restore an archived application and its keys',
      target: 'application',
      command: restoreApplication,
      input: ({ params }) => ({ id: idFrom('application', params.id) }),
    }),
  ];
}
