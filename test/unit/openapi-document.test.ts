import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { type OpenApiDocument, problemsOf } from '../contract/document-rules.ts';

const document = JSON.parse(
  readFileSync(new URL('../../docs/openapi.json', import.meta.url), 'utf8'),
) as OpenApiDocument;

test('the document follows the rules of third-party client generators and linters', () => {
  expect(problemsOf(document)).toEqual([]);
});

const withSchemas = (schemas: OpenApiDocument['components']['schemas']): OpenApiDocument => ({
  ...document,
  components: { schemas },
});
const object = { properties: { a: {} } };

test.each<[string, OpenApiDocument, string]>([
  ['a missing contact', { ...document, info: {} }, 'info.contact is missing'],
  [
    'an unnamed alternative',
    withSchemas({ Thing: { anyOf: [{ $ref: '#/components/schemas/Other' }, object] } }),
    'Thing has an unnamed object as an alternative',
  ],
  [
    'an unnamed map',
    withSchemas({ Thing: { properties: { b: { oneOf: [{ additionalProperties: {} }] } } } }),
    'Thing.b has an unnamed object as an alternative',
  ],
  [
    'an unnamed item of an alternative',
    withSchemas({ Thing: { anyOf: [{ items: object }] } }),
    'Thing has an unnamed object as an alternative',
  ],
  [
    'a default',
    withSchemas({ Thing: { properties: { b: { default: 1 } } } }),
    'Thing.b has a default: generated types require the field',
  ],
  [
    'two models with one name',
    withSchemas({ Thing: { properties: { part: object } }, ThingPart: object }),
    'Thing.part and ThingPart are both named ThingPart',
  ],
  [
    'two enumerations with one name',
    withSchemas({ Thing: { properties: { part: { enum: ['a'] } } }, ThingPart: { enum: ['b'] } }),
    'Thing.part and ThingPart are both named ThingPart',
  ],
  [
    'an example with the form of a schema',
    { ...document, paths: { '/a': { example: { events: [{ type: 'x', example: {} }] } } } },
    'paths./a.example.events.0 is an example with the form of a schema',
  ],
])('%s is found', (_name, broken, problem) => {
  expect(problemsOf(broken)).toEqual([problem]);
});
