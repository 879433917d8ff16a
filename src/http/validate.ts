import { Ajv, type ErrorObject, type ValidateFunction } from 'ajv';
import type { TSchema } from 'typebox';
import { type Refusal, refuse } from '../kernel/errors.ts';
import { firstError, groupErrors, messageOf, pointerOf } from './validation-errors.ts';

/** Values are checked as they are: nothing is coerced, removed or filled in. */
const options = {
  strict: true,
  strictTypes: false,
  strictRequired: false,
  coerceTypes: false,
  removeAdditional: false,
  useDefaults: false,
  verbose: true,
} as const;
const ajv = new Ajv({ ...options, allErrors: false });
/** Finds every error of a body that the other one has refused. It costs more, and large bodies could make it cost much more. */
const thoroughAjv = new Ajv({ ...options, allErrors: true });
const fieldsMax = 500;
const errorsMax = 20;
// Years of four digits, a real day, a zone as far as PostgreSQL knows any: what every client can write and store.
const dateTime =
  /^(\d{4})-(\d{2})-(\d{2})T([01]\d|2[0-3]):[0-5]\d:[0-5]\d(\.\d{1,9})?(Z|[+-](0\d|1[0-5]):[0-5]\d)$/;
const isDateTime = (text: string) => {
  const [, year, month, day] = dateTime.exec(text) ?? [];
  if (year === undefined || Number(year) < 1) return false;
  const lastDay = new Date(Date.UTC(Number(year), Number(month), 0)).getUTCDate();
  return Number(month) >= 1 && Number(month) <= 12 && Number(day) >= 1 && Number(day) <= lastDay;
};
for (const one of [ajv, thoroughAjv]) one.addFormat('date-time', isDateTime);

/**
 * A schema is compiled when it is first needed, and once: the console serves the same ones as the API. Compiling all 72 took 0.29 s of
 * a core at every start, and most processes meet few of them.
 */
function validatorOf(schema: TSchema): ValidateFunction {
  // Ajv keeps what it has compiled by the schema itself.
  return ajv.compile(schema);
}

/** One value of a body that is not accepted. */
interface InvalidValue {
  readonly param: string;
  readonly message: string;
}

interface BodyRefusal extends Refusal {
  readonly details: { readonly errors: readonly InvalidValue[] };
}

export type Check = (value: unknown) => BodyRefusal | undefined;

/** `at` is where in the body the value stands that is checked. */
export function compileBody(schema: TSchema, at = ''): Check {
  const { anyOf: branches, properties } = schema as { anyOf?: readonly Branch[]; properties?: object };
  // An object with properties of its own has `anyOf` for a rule among them, not for forms to choose from.
  if (branches && properties === undefined) return compileChoice(branches, at);
  const checkChoices = compileChoices(properties ?? {}, at);
  return (body) => {
    const inChoices = checkChoices(body);
    const validate = validatorOf(schema);
    if (validate(body)) return inChoices.length === 0 ? undefined : refuseAll(inChoices);
    const own = errorsOf(validate, schema, body, at);
    return refuseAll([...inChoices, ...own.filter(({ param }) => !inChoices.some(isWithin(param)))]);
  };
}

const isWithin = (param: string) => (error: InvalidValue) =>
  error.param === param || error.param.startsWith(`${param}/`) || param.startsWith(`${error.param}/`);

/** The fields that have several forms themselves: an error in one is described by its own form as well. */
function compileChoices(properties: object, at: string): (body: unknown) => readonly InvalidValue[] {
  const checks = Object.entries(properties).flatMap(([name, property]: [string, TSchema]) => {
    const { anyOf: branches } = property as { anyOf?: readonly Partial<Branch>[] };
    const isChoice = branches?.every(({ properties: own }) => own !== undefined) ?? false;
    return isChoice ? [{ name, check: compileBody(property, `${at}/${name}`) }] : [];
  });
  return (body) => {
    if (checks.length === 0 || typeof body !== 'object' || body === null) return [];
    const fields = body as Readonly<Record<string, unknown>>;
    return checks.flatMap(({ name, check }) => {
      const refusal = Object.hasOwn(fields, name) ? check(fields[name]) : undefined;
      return refusal ? refusal.details.errors : [];
    });
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
 * body claims to be is the one it is checked against, so that its errors are those of that form alone.
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
      return refuseAll([{ param: `${at}/${name}`, message: `${at}/${name} is required.` }]);
    if (tag === undefined) return last?.check(body);
    const values = branches.flatMap(({ properties }) => valuesOf(properties[tag]));
    const message = `${at}/${tag} must be one of ${[...new Set(values)].join(', ')}.`;
    return refuseAll([{ param: `${at}/${tag}`, message }]);
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
    if (!validate(query)) return refuseQuery(validate);
    // As in bodies: the database knows no such character, so nothing could be found by it. Cursors have a refusal of their own.
    const name = Object.keys(query).find((one) => one !== 'cursor' && String(query[one]).includes('\0'));
    if (name === undefined) return undefined;
    return refuse('invalid_request', { message: `${name} must not contain U+0000.`, param: name });
  };
}

function errorsOf(
  validate: ValidateFunction,
  schema: TSchema,
  body: unknown,
  at: string,
): readonly InvalidValue[] {
  const first = firstError(validate.errors ?? []);
  return [...(first ? [first] : []), ...allErrors(schema, body)].map((error) => {
    const param = at + pointerOf(error);
    return { param, message: messageOf(error, param) };
  });
}

/** `param` and `message` are those of the first error. `details.errors` has the first error of each value, also that one. */
function refuseAll(errors: readonly InvalidValue[]): BodyRefusal {
  const [first] = errors;
  const params = new Map<string, InvalidValue>();
  for (const error of errors) if (!params.has(error.param)) params.set(error.param, error);
  const refusal = refuse('invalid_request', first);
  return { ...refusal, details: { errors: [...params.values()].slice(0, errorsMax) } };
}

function allErrors(schema: TSchema, body: unknown): readonly ErrorObject[] {
  if (countFields(body, fieldsMax) >= fieldsMax) return [];
  const validate = thoroughAjv.compile(schema);
  validate(body);
  return groupErrors(validate.errors ?? []).flatMap((group) => firstError(group) ?? []);
}

/** Fields and items at every depth, counted up to `max`. */
function countFields(value: unknown, max: number): number {
  if (typeof value !== 'object' || value === null) return 0;
  let count = 0;
  for (const field of Object.values(value)) {
    count += 1 + countFields(field, max - count - 1);
    if (count >= max) return count;
  }
  return count;
}

function refuseQuery(validate: ValidateFunction): Refusal {
  const error = firstError(validate.errors ?? []);
  if (!error) return refuse('invalid_request');
  const param = pointerOf(error).slice(1);
  return refuse('invalid_request', { message: messageOf(error, param), param });
}
