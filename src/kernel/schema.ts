import { type TSchema, Type } from 'typebox';
import { type Id, type IdKind, idPattern } from './ids.ts';
import { limits } from './limits.ts';
import type { SearchedTexts } from './table.ts';

const componentName = Symbol('component name');

/**
 * Options that give a schema a name: the OpenAPI document lists it once under that name and refers to it. Client generators name its
 * type after it. Alternatives of a union that are objects need one. The name is not part of the JSON Schema itself.
 */
export const component = (name: string): Record<symbol, string> => ({ [componentName]: name });

export function componentNameOf(schema: unknown): string | undefined {
  return (schema as { readonly [componentName]?: string } | null | undefined)?.[componentName];
}

/** The building blocks of request and response schemas. They are JSON Schema, as is the OpenAPI document. */
export const Amount = Type.Integer({
  minimum: limits.amountMin,
  maximum: limits.amountMax,
  description: 'Integer minor units of the currency: 1250 is 12.50 EUR, and 1250 JPY.',
});

export const AmountShown = Type.Integer({ minimum: 0, maximum: limits.amountMax });

export const CurrencyCode = Type.String({
  pattern: '^[A-Za-z]{3}$',
  description: 'Three-letter ISO 4217 code, such as EUR. Lower case is accepted; responses have upper case.',
});

/** One @ with text on both sides. A sandbox must accept every address that a production system might. */
export const Email = Type.String({
  minLength: 3,
  maxLength: limits.emailLengthMax,
  pattern: '^[^@\\s]+@[^@\\s]+$',
  description: 'Email address: one @ with text before and after it, without spaces.',
});

/** The address of a person who signs in, in the form that every part of the sign-in accepts. */
export const PersonEmail = Type.String({
  minLength: 6,
  maxLength: limits.emailLengthMax,
  pattern: "^(?!\\.)(?!.*\\.\\.)[A-Za-z0-9_'+.-]*[A-Za-z0-9_+-]@([A-Za-z0-9][A-Za-z0-9-]*\\.)+[A-Za-z]{2,}$",
  description: 'Email address, such as ada@example.com.',
});

/** A day of the application's clock, in UTC. */
export const Day = Type.String({
  pattern: '^\\d{4}-\\d{2}-\\d{2}$',
  description: 'A day in UTC: 2026-11-15.',
});

export const Time = Type.String({ format: 'date-time', description: 'RFC 3339, UTC, with milliseconds.' });

/** A map of texts with keys of the caller. Not `Type.Record`: its key pattern ignores keys with a line break. */
export const textMap = (
  name: string,
  keysMax: number,
  keyLengthMax: number,
  valueLengthMax: number,
  what: string,
) =>
  Type.Unsafe<Record<string, string>>({
    ...component(name),
    type: 'object',
    additionalProperties: { type: 'string', maxLength: valueLengthMax },
    maxProperties: keysMax,
    propertyNames: { minLength: 1, maxLength: keyLengthMax },
    description: `${what} Up to ${keysMax} keys of ${keyLengthMax} characters with text values of ${valueLengthMax}.`,
  });

export const Metadata = textMap(
  'Metadata',
  limits.metadataKeysMax,
  limits.metadataKeyLengthMax,
  limits.metadataValueLengthMax,
  'Your own data.',
);

export const id = <Kind extends IdKind>(kind: Kind, options: { readonly description?: string } = {}) =>
  Type.Unsafe<Id<Kind>>({ type: 'string', pattern: idPattern(kind), ...options });

/** A filter by another record. */
export const idQuery = <Kind extends IdKind>(kind: Kind) =>
  Type.Optional(id(kind, { description: `Only records of this ${kind}.` }));

export const text = (lengthMax: number) => Type.String({ minLength: 1, maxLength: lengthMax });

export const nullable = <T extends TSchema>(schema: T) => Type.Union([schema, Type.Null()]);

/** Unknown fields are refused: a misspelt optional field would otherwise be ignored silently. */
export const strict = <P extends Record<string, TSchema>>(
  properties: P,
  options: Record<string | symbol, unknown> = {},
) => Type.Object(properties, { additionalProperties: false, ...options });

/** The body of an `advance` that names neither an action nor a state. */
export const AdvanceNext = strict({}, component('AdvanceNext'));

/** For objects that take exactly one of several fields. */
export const exactlyOne = (...names: readonly string[]) => ({
  oneOf: names.map((name) => ({ required: [name] })),
});

/** A presented resource: the four common fields, then its own. */
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

export const pageQuery = {
  limit: Type.Optional(
    Type.Integer({
      minimum: limits.listLimitMin,
      maximum: limits.listLimitMax,
      default: limits.listLimitDefault,
      description: 'Maximum number of records in the page.',
    }),
  ),
  cursor: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: limits.cursorLengthMax,
      description: 'The `nextCursor` of the previous page.',
    }),
  ),
} as const;

const instant = (description: string) => Type.Optional(Type.String({ format: 'date-time', description }));

const periodQuery = {
  createdAfter: instant('Only records created after this time.'),
  createdBefore: instant('Only records created before this time.'),
} as const;

export const listQuery = (statuses: readonly string[], more: Record<string, TSchema> = {}) =>
  strict({
    ...pageQuery,
    status: Type.Optional(Type.Enum([...statuses], { description: 'Only records in this state.' })),
    ...periodQuery,
    ...more,
  });

/** For records without a lifecycle. */
export const trailQuery = (more: Record<string, TSchema> = {}) =>
  strict({ ...pageQuery, ...periodQuery, ...more });

/** An exact match of the caller's own reference. */
export const ReferenceQuery = Type.Optional(
  Type.String({
    minLength: 1,
    maxLength: limits.referenceLengthMax,
    description: 'Only records with exactly this reference.',
  }),
);

/** A search within the texts of a list. */
export const searchQuery = ({ description }: SearchedTexts) => ({
  q: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: limits.searchLengthMax,
      description:
        `Only records that contain this text, in any case: ${description}. A page searches the next ${limits.rowsSearchedMax.toLocaleString('en')} records: ` +
        'it may have fewer records than `limit`, or none, while `hasMore` is true.',
    }),
  ),
});

const searchedBound = `A page searches the next ${limits.rowsSearchedMax.toLocaleString('en')} records, as with \`q\`.`;

/** Filters by the amount of a record. */
export const amountQuery = {
  currency: Type.Optional({
    ...CurrencyCode,
    description: `Only records in this currency. ${searchedBound}`,
  }),
  amountMin: Type.Optional(
    Type.Integer({
      minimum: 0,
      maximum: limits.amountMax,
      description: `Only records of at least this amount, in minor units. ${searchedBound}`,
    }),
  ),
  amountMax: Type.Optional(
    Type.Integer({
      minimum: 0,
      maximum: limits.amountMax,
      description: `Only records of at most this amount, in minor units. ${searchedBound}`,
    }),
  ),
};

export const ExpandQuery = strict({
  expand: Type.Optional(
    Type.Enum(['ledgerEntries'], { description: 'Shows the ledger entries of the request.' }),
  ),
});
