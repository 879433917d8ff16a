import type { ApiDocument, Schema } from '../sdk/document.ts';
import { declaredNames, generateSdk } from '../sdk/generate.ts';
import { Shapes } from '../sdk/shapes.ts';

const head = '// Generated from docs/openapi.json and the console routes by `npm run golden`. Do not edit.\n';

/** Enums of the console that get a type name, by their location in its schemas. */
const named: readonly (readonly [name: string, at: string])[] = [
  ['Role', 'Membership.properties.role'],
  ['RetryProfile', 'Application.properties.webhookDefaults.properties.retryProfile'],
];

/** Parts of responses that pages take as arguments. The API describes them within their response, without a name. */
const parts: Readonly<Record<string, string>> = {
  Actor: "LoggedRequest['actor']",
  Attempt: "DeliveryDetail['attempts'][number]",
  CoverageItem: "Coverage['sections'][number]['items'][number]",
  CoverageKind: "Coverage['sections'][number]['kind']",
  CoverageSection: "Coverage['sections'][number]",
  Currency: "Capabilities['currencies'][number]",
  Effect: "ClockAdvanced['happened'][number]",
  ExaminedCase: "Examination['cases'][number]",
  Fault: "FaultPlan['fault']",
  Person: "NonNullable<Session['person']>",
  Posting: "LedgerEntry['postings'][number]",
  Severity: "ExaminedCase['severity']",
  StateMachine: "StateMachines['machines'][number]",
};

/**
 * The types of the console: those of the SDK, and those of the responses that only the console gets. `schemas` has the responses of
 * both.
 */
export function generateConsole(
  document: ApiDocument,
  schemas: Readonly<Record<string, Schema>>,
  limitNames: readonly string[],
): Map<string, string> {
  const inApi = declaredNames(generateSdk(document).get('sdk/generated/shapes.ts') ?? '');
  const { components } = document;
  for (const [name, schema] of Object.entries(schemas)) {
    const inDocument = components.schemas[name];
    if (inDocument && JSON.stringify(inDocument) !== JSON.stringify(schema))
      throw new Error(
        `The API document has another schema with the name ${name}. Rename that of the console.`,
      );
  }
  const shapes = new Shapes(
    { ...document, components: { ...components, schemas: { ...components.schemas, ...schemas } } },
    named,
  );
  const declarations = [
    ...shapes.declarations(),
    `/** The limits that the capabilities have. */\nexport type LimitName =${limitNames.map((name) => `\n  | '${name}'`).join('')};\n`,
    ...Object.entries(parts).map(([name, type]) => `export type ${name} = ${type};\n`),
  ].filter((text) => [...declaredNames(text)].every((name) => !inApi.has(name)));
  const body = declarations.join('\n');
  const used = [...inApi]
    .filter((name) => new RegExp(`\\b${name}\\b(?!')`).test(withoutComments(body)))
    .sort();
  const text = [
    head,
    `import type {\n${used.map((name) => `  ${name},\n`).join('')}} from '../../sdk/generated/shapes.ts';\n`,
    "export type * from '../../sdk/generated/shapes.ts';\n",
    body,
  ].join('\n');
  return new Map([['console/generated/shapes.ts', text.replaceAll(/ +$/gm, '')]]);
}

function withoutComments(text: string): string {
  return text.replaceAll(/\/\*\*.*?\*\//g, '');
}
