import { type TSchema, Type } from 'typebox';
import { type IdKind, idPattern } from './ids.ts';
import { limits } from './limits.ts';

/** The pieces that request and response schemas are made of. They are JSON Schema, and so is the OpenAPI document. */
export const Amount = Type.Integer({
  minimum: limits.amountMin,
  maximum: limits.amountMax,
  description: 'Integer minor units of the currency: 1250 is 12.50 EUR, and 1250 JPY.',
});

export const AmountShown = Type.Integer({ minimum: 0, maximum: limits.amountMax });

export const CurrencyCode = Type.String({
  pattern: '^[A-Za-z]{3}$',
  description: 'ISO 4217 code; lower case is accepted and answered in upper case.',
});

export const Time = Type.String({ format: 'date-time', description: 'RFC 3339, UTC, with milliseconds.' });

/** Not `Type.Record`: its pattern for keys passes over those with a line break, and so over their values. */
export const Metadata = Type.Unsafe<Record<string, string>>({
  type: 'object',
  additionalProperties: { type: 'string', maxLength: limits.metadataValueLengthMax },
  maxProperties: limits.metadataKeysMax,
  propertyNames: { minLength: 1, maxLength: limits.metadataKeyLengthMax },
  description: `Your own data: up to ${limits.metadataKeysMax} keys of ${limits.metadataKeyLengthMax} characters with text values of ${limits.metadataValueLengthMax}.`,
});

export const id = (kind: IdKind) => Type.String({ pattern: idPattern(kind) });

export const text = (lengthMax: number) => Type.String({ minLength: 1, maxLength: lengthMax });

export const nullable = <T extends TSchema>(schema: T) => Type.Union([schema, Type.Null()]);

/** Unknown fields are refused: a misspelt optional field would otherwise be lost without a word. */
export const strict = <P extends Record<string, TSchema>>(
  properties: P,
  options: Record<string, unknown> = {},
) => Type.Object(properties, { additionalProperties: false, ...options });

/** A resource as it is shown: the four fields that every body carries, then its own. */
export const resource = <P extends Record<string, TSchema>>(
  object: string,
  statuses: readonly string[],
  properties: P,
) =>
  Type.Object({
    object: Type.Literal(object),
    sandbox: Type.Literal(true),
    requestId: Type.Optional(id('request')),
    status: Type.Enum([...statuses]),
    ...properties,
  });

export const list = <T extends TSchema>(item: T) =>
  Type.Object({
    object: Type.Literal('list'),
    sandbox: Type.Literal(true),
    requestId: id('request'),
    status: Type.Literal('ok'),
    data: Type.Array(item),
    hasMore: Type.Boolean(),
    nextCursor: nullable(Type.String()),
  });

export const listQuery = (statuses: readonly string[], more: Record<string, TSchema> = {}) =>
  strict({
    limit: Type.Optional(
      Type.Integer({
        minimum: limits.listLimitMin,
        maximum: limits.listLimitMax,
        default: limits.listLimitDefault,
      }),
    ),
    cursor: Type.Optional(Type.String({ minLength: 1, maxLength: limits.cursorLengthMax })),
    status: Type.Optional(Type.Enum([...statuses])),
    createdAfter: Type.Optional(Time),
    createdBefore: Type.Optional(Time),
    ...more,
  });
