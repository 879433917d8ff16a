import { withShownTimes } from '../client/now.ts';

const valuesListedMax = 6;

/**
 * A validation message of the API for the person at a form: `/email must be ...` names the field by its label, and a list of
 * all 60 operations is left out.
 */
export function fieldMessage(message: string, label: string): string {
  const named = withShownTimes(message).replace(/^\/\S+(?= )/, label);
  const [, start = '', list, hint = ''] =
    /^(.*?) must be one of (.*?)\.( Did you mean .*\?)?$/s.exec(named) ?? [];
  if (list === undefined || list.split(', ').length <= valuesListedMax) return named;
  return `${start} is not a known value.${hint}`;
}
