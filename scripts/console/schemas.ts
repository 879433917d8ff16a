import { consoleAnswers } from '../../src/http/console-answers.ts';
import { SchemaComponents } from '../../src/http/openapi-schemas.ts';
import type { DeclaredResponse } from '../../src/kernel/route.ts';
import { consoleRoutes, routes } from '../../src/resources/index.ts';
import { LedgerEntrySchema } from '../../src/resources/ledger/views.ts';
import type { Schema } from '../sdk/document.ts';

/** The JSON responses of the console. The console also calls API routes, which the OpenAPI document describes. */
const consoleResponses: readonly DeclaredResponse[] = [
  ...consoleRoutes,
  ...Object.values(consoleAnswers).filter(({ contentType }) => contentType === 'application/json'),
];

/** Their schemas by name, like the components of the OpenAPI document. A name has the same schema in both. */
export function consoleSchemas(): Readonly<Record<string, Schema>> {
  const all: readonly DeclaredResponse[] = [...routes, ...consoleResponses];
  const names = new Map<unknown, string>([[LedgerEntrySchema, 'LedgerEntry']]);
  for (const { response, responseName } of all) names.set(response, responseName);
  const components = new SchemaComponents(names);
  for (const { response, responseName } of all) components.refer(responseName, response);
  return components.schemas as Readonly<Record<string, Schema>>;
}
