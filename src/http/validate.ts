import { Ajv, type ErrorObject, type ValidateFunction } from 'ajv';
import type { TSchema } from 'typebox';
import { type Refusal, refuse } from '../kernel/errors.ts';
import { firstError, groupErrors, messageOf, pointerOf } from './validation-errors.ts';

/** Values are checked unchanged: nothing is coerced, removed or filled in. */
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
/** Finds all errors of a body that `ajv` has rejected. It is slower, and much slower for large bodies. */
const thoroughAjv = new Ajv({ ...options, allErrors: true });
const fieldsMax = 500;
const errorsMax = 20;
// Four-digit years, real days, and offsets within the range of PostgreSQL: every client can write and store these.
const dateTime =
  /^(\d{4})-(\d{2})-(\d{2})T([01]\d|2[0-3]):[0-5]\d:[0-5]\d(\.\d{1,9})?(Z|[+-](0\d|1[0-5]):[0-5]\d)$/;
const isDateTime = (text: string) => {
  const [, year, month, day] = dateTime.exec(text) ?? [];
  if (year === undefined || Number(year) < 1) return false;
  const lastDay = new Date(Date.UTC(Number(year), Number(month), 0)).getUTCDate();
  return Number(month) >= 1 && Number(month) <= 12 && Number(day) >= 1 && Number(day) <= lastDay;
};
for (const instance of [ajv, thoroughAjv]) instance.addFormat('date-time', isDateTime);

/**
 * Compiles a schema once, on first use; the console and the API share schemas. Compiling all 72 took 0.29 s of CPU time at every
 * start, and most processes use few of them.
 */
function validatorOf(schema: TSchema): ValidateFunction {
  // Ajv caches compiled validators by schema.
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

/** `at` is the JSON pointer of the checked value in the body. */
export function compileBody(schema: TSchema, at = ''): Check {
  const { anyOf: branches, properties } = schema as { anyOf?: readonly Branch[]; properties?: object };
  // If an object has properties as well, its `anyOf` is a rule for these properties, not a list of forms.
  if (branches && properties === undefined) return compileChoice(branches, at);
  const checkChoices = compileChoices(properties ?? {}, at);
  return (body) => {
    const choiceErrors = checkChoices(body);
    const validate = validatorOf(schema);
    if (validate(body)) return choiceErrors.length === 0 ? undefined : refuseAll(choiceErrors);
    const otherErrors = errorsOf(validate, schema, body, at);
    return refuseAll([
      ...choiceErrors,
      ...otherErrors.filter(({ param }) => !choiceErrors.some(isWithin(param))),
    ]);
  };
}

const isWithin = (param: string) => (error: InvalidValue) =>
  error.param === param || error.param.startsWith(`${param}/`) || param.startsWith(`${error.param}/`);

/** Checks the fields that have several forms: the errors of such a field are those of its chosen form. */
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
 * A body with several forms. The first required field of each form with fixed values is its tag. The body is checked against the
 * first form whose tag matches, so that it gets only the errors of that form.
 */
function compileChoice(branches: readonly Branch[], at: string): Check {
  const forms = branches.map((branch) => ({ branch, check: compileBody(branch, at) }));
  const last = forms.at(-1);
  const names = [...new Set(branches.flatMap((branch) => tagOf(branch) ?? []))];
  const [name] = names;
  const hasOneTag = branches.every((branch) => tagOf(branch) === name);
  return (body) => {
    if (typeof body !== 'object' || body === null || Array.isArray(body)) return last?.check(body);
    const fields = body as Readonly<Record<string, unknown>>;
    const claimed = forms.find(({ branch }) => claims(branch, fields));
    const tag = names.find((name) => fields[name] !== undefined);
    if (claimed && ((claimed.branch.required ?? []).length > 0 || tag === undefined))
      return claimed.check(body);
    if (tag === undefined && hasOneTag && name !== undefined)
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

/** Query strings are text: a value becomes a number only if the schema requires an integer and the text is one. */
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
    // As in bodies: PostgreSQL cannot store U+0000, so no record could match. Cursors have their own refusal.
    const name = Object.keys(query).find((key) => key !== 'cursor' && String(query[key]).includes('\0'));
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

/** `param` and `message` are those of the first error. `details.errors` has the first error of each value, including that one. */
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
