import { consoleSchemas } from '../../scripts/console/schemas.ts';
import { successStatus } from '../../src/kernel/envelope.ts';
import { errorCatalogue, isErrorCode } from '../../src/kernel/errors.ts';
import type { DeclaredResponse } from '../../src/kernel/route.ts';
import { closed, timeSent, Validators } from './contract-check.ts';

/** Created at the first response, once per process. */
let answers: Validators | undefined;

/** All differences between a JSON response of a console route and its declaration. */
export function consoleFaultsOf(
  { responseName }: Pick<DeclaredResponse, 'responseName'>,
  status: number,
  text: string,
): readonly string[] {
  const body = JSON.parse(text) as { requestId?: string; error?: { code?: string } };
  const unidentified = body.requestId === undefined ? ['body has no requestId'] : [];
  if (status >= 400) {
    const { code = '' } = body.error ?? {};
    const isKnown = isErrorCode(code) && errorCatalogue[code].status === status;
    return [...unidentified, ...(isKnown ? [] : [`${code} is not an error with status ${status}`])];
  }
  const isSuccess = Object.values<number>(successStatus).includes(status);
  return [
    ...unidentified,
    ...(isSuccess ? [] : [`${status} is not the status of a success`]),
    ...itemFaultsOf(responseName, body),
  ];
}

/** All differences between a value, such as an event of a stream, and the schema with a name. */
export function itemFaultsOf(name: string, value: unknown): readonly string[] {
  answers ??= new Validators(closed({ schemas: consoleSchemas() }), timeSent);
  return answers.faults(referenceTo(name), value, 'body');
}

/** The same object for the same name, because validators are cached by it. */
const references = new Map<string, { readonly $ref: string }>();

function referenceTo(name: string): { readonly $ref: string } {
  const reference = references.get(name) ?? { $ref: `#/components/schemas/${name}` };
  references.set(name, reference);
  return reference;
}
