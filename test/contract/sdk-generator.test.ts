// The SDK generator with synthetic documents: method names of new operations, generated types and error messages.
import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { generateConsole } from '../../scripts/console/generate.ts';
import type { ApiDocument, ApiOperation, Schema } from '../../scripts/sdk/document.ts';
import { generateSdk } from '../../scripts/sdk/generate.ts';
import { methodNameOf } from '../../scripts/sdk/method-names.ts';

const document = JSON.parse(
  readFileSync(new URL('../../docs/openapi.json', import.meta.url), 'utf8'),
) as ApiDocument;

const operation = (operationId: string, content: Record<string, { schema: Schema }> = {}): ApiOperation => ({
  operationId,
  tags: [],
  description: 'Any valid key may call this.',
  parameters: [],
  responses: { '200': { content } },
});

const withPath = (
  path: string,
  verb: string,
  one: ApiOperation,
  schemas: Record<string, Schema> = {},
): ApiDocument => ({
  ...document,
  paths: { ...document.paths, [path]: { ...document.paths[path], [verb]: one } },
  components: { schemas: { ...document.components.schemas, ...schemas } },
});

describe('the method of an operation', () => {
  test.each([
    ['GET', 'fault_plans', 'listFaultPlans', 'faultPlans.list'],
    ['POST', 'fault_plans', 'createFaultPlan', 'faultPlans.create'],
    ['GET', 'fault_plans/{id}', 'retrieveFaultPlan', 'faultPlans.retrieve'],
    ['POST', 'fault_plans/{id}/cancel', 'cancelFaultPlan', 'faultPlans.cancel'],
    ['POST', 'reset', 'resetOrganization', 'reset'],
    ['GET', 'coverage', 'getCoverage', 'coverage.retrieve'],
    ['POST', 'coverage/reset', 'resetCoverage', 'coverage.reset'],
    ['GET', 'requests', 'listRequests', 'requests.list'],
    ['GET', 'requests/{id}', 'retrieveRequest', 'requests.retrieve'],
    ['GET', 'audit_entries', 'listAuditEntries', 'audit.list'],
    ['GET', 'audit_entries/verify', 'verifyAuditTrail', 'audit.verify'],
    ['POST', 'webhooks/{id}/examine', 'examineWebhook', 'webhooks.examine'],
    ['GET', 'webhook_events/stream', 'streamWebhookEvents', 'events.stream'],
    ['GET', 'balances', 'getBalances', 'ledger.balances'],
    ['POST', 'webhooks/{id}/rotate_secret', 'rotateWebhookSecret', 'webhooks.rotateSecret'],
  ])('%s %s is %s: sandbank.%s()', (verb, path, id, name) => {
    const { namespace, method } = methodNameOf(verb, `/_api/developer_api_${path}`, operation(id));
    expect([namespace, method].filter(Boolean).join('.')).toBe(name);
  });

  test.each([
    [
      'POST',
      '/_api/developer_api_vouchers',
      /createIt \(POST .+\): the SDK has no namespace for `vouchers`.+scripts\/sdk\/method-names\.ts/,
    ],
    ['POST', '/_api/developer_api_payments/{id}', /gives it no method.+`exceptions`/],
    ['GET', '/other', /does not start with/],
  ])('%s %s has none, and the error says what to do', (verb, path, message) => {
    expect(() => methodNameOf(verb, path, operation('createIt'))).toThrow(message);
  });

  test('two operations with one method name are rejected', () => {
    const json = { 'application/json': { schema: { $ref: '#/components/schemas/Payment' } } };
    const twice = withPath(
      '/_api/developer_api_payments/{id}/parts/advance',
      'post',
      operation('advanceAgain', json),
    );
    expect(() => generateSdk(twice)).toThrow(
      /advancePayment and advanceAgain are both sandbank\.payments\.advance\(\)/,
    );
  });
});

describe('generated code', () => {
  const textOf = (from: ApiDocument, name: string) => generateSdk(from).get(`sdk/generated/${name}.ts`) ?? '';

  test('another content type is a separate method, and a stream is left to hand-written code', () => {
    const schema = { $ref: '#/components/schemas/Coverage' };
    const coverage = operation('getCoverage', {
      'application/json': { schema },
      'application/xml': { schema: { type: 'string' } },
    });
    const shape: Schema = {
      type: 'object',
      properties: { object: { const: 'coverage' } },
      required: ['object'],
    };
    const more = withPath('/_api/developer_api_coverage', 'get', coverage, { Coverage: shape });
    expect(textOf(more, 'namespaces')).toMatch(/junit\(options\?: CallOptions\): Promise<string>;/);
    expect(textOf(more, 'namespaces')).toMatch(/declare readonly coverage: CoverageNamespace;/);
    const stream = operation('streamWebhookEvents', { 'text/event-stream': { schema: { type: 'string' } } });
    const streaming = withPath('/_api/developer_api_webhook_events/stream', 'get', stream);
    expect(textOf(streaming, 'operations')).toMatch(/id: 'streamWebhookEvents'.+gives: 'stream'/);
    expect(textOf(streaming, 'namespaces')).toBe(textOf(document, 'namespaces'));
    const pdf = operation('getCoverage', {
      'application/json': { schema },
      'application/pdf': { schema: {} },
    });
    expect(() => textOf(withPath('/_api/developer_api_coverage', 'get', pdf), 'operations')).toThrow(
      /answers with application\/pdf/,
    );
  });

  test.each<[string, Schema, string]>([
    ['an enum', { enum: ['a', "it's"] }, `export type Thing = 'a' | 'it\\'s';`],
    [
      'an open enum',
      { anyOf: [{ enum: ['a', 'b'] }, { type: 'string' }] },
      `export type Thing = 'a' | 'b' | (string & {});`,
    ],
    [
      'one of two fields',
      {
        type: 'object',
        properties: { a: { type: 'integer' }, b: { type: 'string' } },
        oneOf: [{ required: ['a'] }, { required: ['b'] }],
      },
      `export type Thing = {\n  a: number;\n  b?: undefined;\n} | {\n  a?: undefined;\n  b: string;\n};`,
    ],
    [
      'at least one of two fields, and a required one',
      {
        type: 'object',
        properties: { a: { type: 'integer' }, b: { type: 'string' }, c: { type: 'boolean' } },
        required: ['c'],
        anyOf: [{ required: ['a'] }, { required: ['b'] }],
      },
      'export type Thing = {\n  c: boolean;\n} & ({\n  a: number;\n  b?: string;\n} | {\n  a?: number;\n  b: string;\n});',
    ],
    [
      'a map',
      { type: 'object', patternProperties: { '^.*$': { type: 'integer' } } },
      'export type Thing = Record<string, number>;',
    ],
    [
      'a list with nullable items',
      { type: 'array', items: { anyOf: [{ type: 'string' }, { type: 'null' }] } },
      'export type Thing = (string | null)[];',
    ],
    [
      'a description and a default',
      { type: 'object', properties: { a: { type: 'boolean', default: false, description: 'Says */ it.' } } },
      `export interface Thing {\n  /** Says *\\/ it. Default: \`false\`. */\n  a?: boolean;\n}`,
    ],
  ])('%s', (_name, schema, text) => {
    const more = { ...document, components: { schemas: { ...document.components.schemas, Thing: schema } } };
    expect(textOf(more, 'shapes')).toContain(text);
  });

  describe('for the console', () => {
    const status = {
      type: 'object',
      properties: { role: { enum: ['viewer', 'owner'] } },
      required: ['role'],
    };
    const retries = { type: 'object', properties: { retryProfile: { enum: ['fast', 'none'] } } };
    const application = { type: 'object', properties: { webhookDefaults: retries } };
    const own: Record<string, Schema> = {
      Membership: status,
      Application: application,
      Team: { type: 'object', properties: { first: { $ref: '#/components/schemas/Payment' } } },
    };
    const shapesOf = (schemas: Record<string, Schema>) =>
      generateConsole(document, schemas, ['nameLengthMax']).get('console/generated/shapes.ts') ?? '';

    test('declares its own types and takes those of the API from the SDK', () => {
      const text = shapesOf(own);
      expect(text).toContain("export type Role = 'viewer' | 'owner';");
      expect(text).toContain('export interface Membership {\n  role: Role;\n}');
      expect(text).toMatch(/import type \{[^}]*\bPayment,[^}]*\} from '..\/..\/sdk\/generated\/shapes.ts'/);
      expect(text).not.toContain('export interface Payment ');
      expect(text).toContain("export type LimitName =\n  | 'nameLengthMax';");
    });

    test('rejects a schema with the name of another one of the API', () => {
      expect(() => shapesOf({ ...own, PaymentCreate: status })).toThrow(
        /another schema with the name PaymentCreate/,
      );
    });
  });

  test('rejects an unknown schema type', () => {
    const more = {
      ...document,
      components: { schemas: { ...document.components.schemas, Thing: { type: 'tuple' } } },
    };
    expect(() => generateSdk(more)).toThrow(/cannot turn this schema into a type/);
  });

  test('reports an enum that is no longer at its location', () => {
    const { EventCreate: _gone, ...schemas } = document.components.schemas;
    expect(() => generateSdk({ ...document, components: { schemas } })).toThrow(
      /The enum of EventType is no longer at EventCreate/,
    );
  });
});
