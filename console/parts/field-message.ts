import { withShownTimes } from '../client/now.ts';
import type { ApiProblem } from '../client/request.ts';

const valuesListedMax = 6;

/**
 * A validation message of the API for the person at a form: `/email must be ...` names the field by its label, and a list of
 * all 60 operations is left out. `param` is that of the field, which may be an object: `/metadata/color` is `Metadata “color”`.
 */
export function fieldMessage(
  problem: Pick<ApiProblem, 'message' | 'param'>,
  param: string,
  label: string,
): string {
  const named = withLabel(withShownTimes(problem.message), problem.param ?? '', param, label);
  const [, start = '', list, hint = ''] =
    /^(.*?) must be one of (.*?)\.( Did you mean .*\?)?$/s.exec(named) ?? [];
  if (list === undefined || list.split(', ').length <= valuesListedMax) return named;
  return `${start} is not a known value.${hint}`;
}

/** Replaces the API's path by the label. The name of a query parameter has no slash, so it is replaced at the start only. */
function withLabel(message: string, pointer: string, param: string, label: string): string {
  if (pointer === '') return message;
  const key = pointer
    .split('/')
    .slice(param.split('.').length + 1)
    .map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'))
    .join('/');
  // A position in a list does not help: the person sees no numbers.
  const name = key === '' || /^\d+(\/|$)/.test(key) ? label : `${label} “${key}”`;
  if (message.startsWith(`${pointer} `)) return `${name}${message.slice(pointer.length)}`;
  return pointer.startsWith('/') ? message.replace(` ${pointer} `, () => ` ${name} `) : message;
}
