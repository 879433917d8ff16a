import { Ajv, type ErrorObject, type ValidateFunction } from 'ajv';
import type { TSchema } from 'typebox';
import { type Refusal, refuse } from '../kernel/errors.ts';

/**
 * Schemas are checked as they stand: nothing is coerced, removed or filled in. The first fault is told, in words, with
 * a JSON pointer to it.
 */
const ajv = new Ajv({
  strict: true,
  strictTypes: false,
  strictRequired: false,
  allErrors: false,
  coerceTypes: false,
  removeAdditional: false,
  useDefaults: false,
  verbose: true,
});
// Years of four digits, a real day, a zone as far as PostgreSQL knows any: what every client can write and store.
const dateTime =
  /^(\d{4})-(\d{2})-(\d{2})T([01]\d|2[0-3]):[0-5]\d:[0-5]\d(\.\d{1,9})?(Z|[+-](0\d|1[0-5]):[0-5]\d)$/;
ajv.addFormat('date-time', (text) => {
  const [, year, month, day] = dateTime.exec(text) ?? [];
  if (year === undefined || Number(year) < 1) return false;
  const lastDay = new Date(Date.UTC(Number(year), Number(month), 0)).getUTCDate();
  return Number(month) >= 1 && Number(month) <= 12 && Number(day) >= 1 && Number(day) <= lastDay;
});

/**
 * A schema is compiled when it is first needed, and once: the console serves the same ones as the API. Compiling all 72 took 0.29 s of
 * a core at every start, and most processes meet few of them.
 */
function validatorOf(schema: TSchema): ValidateFunction {
  // Ajv keeps what it has compiled by the schema itself.
  return ajv.compile(schema);
}

export type Check = (value: unknown) => Refusal | undefined;

/** `at` is where in the body the value stands that is checked. */
export function compileBody(schema: TSchema, at = ''): Check {
  const { anyOf: branches, properties } = schema as { anyOf?: readonly Branch[]; properties?: object };
  // An object with properties of its own has `anyOf` for a rule among them, not for forms to choose from.
  if (branches && properties === undefined) return compileChoice(branches, at);
  const fields = compileFields(properties ?? {}, at);
  return (body) => {
    const refusal = fields?.(body);
    if (refusal) return refusal;
    const validate = validatorOf(schema);
    return validate(body) ? undefined : refusalFor(validate, (error) => at + pointerOf(error));
  };
}

/** The fields that have several forms themselves: a fault in one is told in the words of its own form as well. */
function compileFields(properties: object, at: string): Check | undefined {
  const checks = Object.entries(properties).flatMap(([name, property]: [string, TSchema]) => {
    const { anyOf: branches } = property as { anyOf?: readonly Partial<Branch>[] };
    const isChoice = branches?.every(({ properties: own }) => own !== undefined) ?? false;
    return isChoice ? [{ name, check: compileBody(property, `${at}/${name}`) }] : [];
  });
  if (checks.length === 0) return undefined;
  return (body) => {
    if (typeof body !== 'object' || body === null) return undefined;
    const fields = body as Readonly<Record<string, unknown>>;
    for (const { name, check } of checks) {
      const refusal = Object.hasOwn(fields, name) ? check(fields[name]) : undefined;
      if (refusal) return refusal;
    }
    return undefined;
  };
}

interface Branch extends TSchema {
  readonly required?: readonly string[];
  readonly properties: Readonly<
    Record<string, { readonly const?: unknown; readonly enum?: readonly unknown[] }>
  >;
}

/**
 * A body of several forms, told apart by the first required field of each and the values that it may have. The first form that a
 * body claims to be is the one it is checked against, so that a fault is told in the words of that form alone.
 */
function compileChoice(branches: readonly Branch[], at: string): Check {
  const forms = branches.map((branch) => ({ branch, check: compileBody(branch, at) }));
  const last = forms.at(-1);
  const names = [...new Set(branches.flatMap((branch) => tagOf(branch) ?? []))];
  const [name] = names;
  const isEvery = branches.every((branch) => tagOf(branch) === name);
  return (body) => {
    if (typeof body !== 'object' || body === null || Array.isArray(body)) return last?.check(body);
    const fields = body as Readonly<Record<string, unknown>>;
    const claimed = forms.find(({ branch }) => claims(branch, fields));
    const tag = names.find((name) => fields[name] !== undefined);
    if (claimed && ((claimed.branch.required ?? []).length > 0 || tag === undefined))
      return claimed.check(body);
    if (tag === undefined && isEvery && name !== undefined)
      return refuse('invalid_request', { message: `${at}/${name} is required.`, param: `${at}/${name}` });
    if (tag === undefined) return last?.check(body);
    const values = branches.flatMap(({ properties }) => valuesOf(properties[tag]));
    return refuse('invalid_request', {
      message: `${at}/${tag} must be one of ${[...new Set(values)].join(', ')}.`,
      param: `${at}/${tag}`,
    });
  };
}

function tagOf({ required, properties }: Branch): string | undefined {
  return required?.find((name) => valuesOf(properties[name]).length > 0);
}

function claims(branch: Branch, body: Readonly<Record<string, unknown>>): boolean {
  const tag = tagOf(branch);
  return tag === undefined || valuesOf(branch.properties[tag]).includes(body[tag]);
}

function valuesOf(property: Branch['properties'][string] | undefined): readonly unknown[] {
  return property?.enum ?? (property?.const === undefined ? [] : [property.const]);
}

/** Query strings are text: only what the schema calls an integer, and what is written as one, becomes a number. */
export function compileQuery(schema: TSchema): (query: Record<string, unknown>) => Refusal | undefined {
  const properties = (schema as { properties?: Record<string, { type?: string }> }).properties ?? {};
  const needsQuery = ((schema as { required?: readonly string[] }).required ?? []).length > 0;
  const integers = Object.keys(properties).filter((name) => properties[name]?.type === 'integer');
  return (query) => {
    if (!needsQuery && Object.keys(query).length === 0) return undefined;
    for (const name of integers) {
      const value = query[name];
      if (typeof value === 'string' && /^-?\d{1,15}$/.test(value)) query[name] = Number(value);
    }
    const validate = validatorOf(schema);
    if (!validate(query)) return refusalFor(validate, (error) => pointerOf(error).slice(1));
    // As in bodies: the database knows no such character, so nothing could be found by it. Cursors have a refusal of their own.
    const name = Object.keys(query).find((one) => one !== 'cursor' && String(query[one]).includes('\0'));
    if (name === undefined) return undefined;
    return refuse('invalid_request', { message: `${name} must not contain U+0000.`, param: name });
  };
}

function refusalFor(validate: ValidateFunction, nameOf: (error: ErrorObject) => string): Refusal {
  const error = mostTelling(validate.errors ?? []);
  if (!error) return refuse('invalid_request');
  const param = nameOf(error);
  return refuse('invalid_request', { message: wordsFor(error, param), param });
}

/**
 * A union reports the fault of each of its branches first and itself last. The branch that the value was meant for is
 * the one that did not fail by type.
 */
function mostTelling(errors: readonly ErrorObject[]): ErrorObject | undefined {
  const last = errors.at(-1);
  if (last?.keyword !== 'anyOf' || requiredChoices(last).length > 0) return last;
  return errors.find(({ keyword }) => keyword !== 'type') ?? last;
}

function requiredChoices({ schema }: ErrorObject): readonly string[] {
  return Array.isArray(schema)
    ? (schema as { required?: string[] }[]).flatMap(({ required }) => required ?? [])
    : [];
}

function pointerOf(error: ErrorObject): string {
  const { instancePath, keyword, params } = error;
  const property: unknown =
    keyword === 'additionalProperties'
      ? params.additionalProperty
      : keyword === 'required'
        ? params.missingProperty
        : keyword === 'oneOf'
          ? requiredChoices(error)[0]
          : undefined;
  return property === undefined
    ? instancePath
    : `${instancePath}/${String(property).replaceAll('~', '~0').replaceAll('/', '~1')}`;
}

function wordsFor(error: ErrorObject, param: string): string {
  const { keyword, params, message } = error;
  const where = param === '' ? 'The body' : param;
  switch (keyword) {
    case 'additionalProperties':
      return `${where} is not a known field. Check its spelling, or leave it out.`;
    case 'required':
      return `${where} is required.`;
    case 'enum':
      return `${where} must be one of ${(params.allowedValues as unknown[]).join(', ')}.`;
    case 'minProperties':
      return `${where} must have at least ${params.limit} field.`;
    case 'oneOf':
      return `Exactly one of ${requiredChoices(error).join(', ')} must be sent.`;
    case 'anyOf':
      return alternatives(error, where);
    case 'propertyNames':
      return `A key of ${where} is too long, or empty.`;
    case 'pattern':
      return `${where} does not have the right form (${params.pattern}).`;
    case 'format':
      return `${where} must be a time in RFC 3339, for example 2026-11-15T09:30:00.000Z.`;
    default:
      return `${where} ${message ?? 'is not accepted'}.`;
  }
}

/** `anyOf` stands for a choice of fields on an object, and for a choice of types on a value. */
function alternatives(error: ErrorObject, where: string): string {
  const names = requiredChoices(error);
  if (names.length > 0) return `${where} needs at least one of ${names.join(', ')}.`;
  const types = (error.schema as { type?: string }[]).flatMap(({ type }) => type ?? []);
  return `${where} must be ${types.join(' or ')}.`;
}
