import type { ErrorObject } from 'ajv';
import { nearest } from '../../sdk/nearest.ts';

/** Groups the errors by value. A union reports the errors of each alternative and then its own: these are one group. */
export function groupErrors(errors: readonly ErrorObject[]): readonly (readonly ErrorObject[])[] {
  const groups: ErrorObject[][] = [];
  for (const error of errors) {
    const group = [error];
    const isPart = ({ schemaPath }: ErrorObject) => schemaPath.startsWith(`${error.schemaPath}/`);
    if (error.keyword === 'anyOf' || error.keyword === 'oneOf')
      while (groups.at(-1)?.every(isPart)) group.unshift(...(groups.pop() ?? []));
    groups.push(group);
  }
  return groups;
}

/**
 * The error to show for one value. For a union it is the error of the alternative that has the type of the value.
 */
export function firstError(errors: readonly ErrorObject[]): ErrorObject | undefined {
  const last = errors.at(-1);
  if (last?.keyword !== 'anyOf' || requiredChoices(last).length > 0) return last;
  return errors.find(({ keyword }) => keyword !== 'type') ?? last;
}

function requiredChoices({ schema }: ErrorObject): readonly string[] {
  return Array.isArray(schema)
    ? (schema as { required?: string[] }[]).flatMap(({ required }) => required ?? [])
    : [];
}

/** A JSON pointer to the value, or to the field that is missing or unknown. */
export function pointerOf(error: ErrorObject): string {
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

export function messageOf(error: ErrorObject, param: string): string {
  const { keyword, params, message } = error;
  const where = param === '' ? 'The body' : param;
  switch (keyword) {
    case 'additionalProperties':
      return `${where} is not a known field. ${fieldHint(error)}`;
    case 'required':
      return `${where} is required.`;
    case 'enum':
      return `${where} must be one of ${(params.allowedValues as unknown[]).join(', ')}.${valueHint(error)}`;
    case 'minProperties':
      return `${where} must have at least ${params.limit} field.`;
    case 'oneOf':
      return `Exactly one of ${requiredChoices(error).join(', ')} must be sent.`;
    case 'anyOf':
      return alternatives(error, where);
    case 'propertyNames':
      return `A key of ${where} is too long, or empty.`;
    case 'pattern':
      return `${where} ${expectedForm(error)}`;
    case 'format':
      return `${where} must be a time in RFC 3339, for example 2026-11-15T09:30:00.000Z.`;
    default:
      return `${where} ${message ?? 'is not accepted'}.`;
  }
}

/** Does not suggest a field that the body has already. */
function fieldHint({ params, parentSchema, data }: ErrorObject): string {
  const present = Object.keys(data as object);
  const absent = Object.keys((parentSchema?.properties ?? {}) as object).filter(
    (name) => !present.includes(name),
  );
  const name = nearest(String(params.additionalProperty), absent);
  return name === undefined ? 'Check its spelling, or leave it out.' : `Did you mean ${name}?`;
}

function valueHint({ params, data }: ErrorObject): string {
  const values = (params.allowedValues as unknown[]).filter((value) => typeof value === 'string');
  const value = typeof data === 'string' ? nearest(data, values) : undefined;
  return value === undefined ? '' : ` Did you mean ${value}?`;
}

/** Schemas have a description of their pattern. For ids, the prefix is read from the pattern. */
function expectedForm({ params, parentSchema }: ErrorObject): string {
  const pattern = String(params.pattern);
  const prefix = /^\^([a-z]+_)\[/.exec(pattern)?.[1];
  if (prefix !== undefined) return `must be an id that begins with ${prefix}.`;
  const description: unknown = parentSchema?.description;
  return typeof description === 'string'
    ? `does not have the right form. ${description}`
    : `does not have the right form (${pattern}).`;
}

/** `anyOf` means a choice of fields on an object, and a choice of types on a value. */
function alternatives(error: ErrorObject, where: string): string {
  const names = requiredChoices(error);
  if (names.length > 0) return `${where} needs at least one of ${names.join(', ')}.`;
  const types = (error.schema as { type?: string }[]).flatMap(({ type }) => type ?? []);
  return `${where} must be ${types.join(' or ')}.`;
}
