import { readFile } from 'node:fs/promises';
import { isSandbankError } from '../failure.ts';
import { packageRoot } from '../version.ts';

/** The error text of a tool: the message and all fields that help the assistant to correct its call. */
export function refusalText(error: unknown): string {
  if (!isSandbankError(error)) return error instanceof Error ? error.message : String(error);
  const { code, status, message, param, allowedActions, details, retryable, requestId, docUrl } = error;
  const facts = { code, status, param, allowedActions, details, retryable, requestId, docUrl };
  const present = Object.entries(facts).filter(([, value]) => value !== undefined);
  return `${message}\n${JSON.stringify(Object.fromEntries(present))}`;
}

export interface ExplainedError {
  readonly code: string;
  readonly status: number;
  readonly whatHappened: string;
  readonly howToFixIt: string;
  readonly retryHelps: boolean;
}

/** The error catalogue, parsed from its docs page. */
export async function errorCatalogue(): Promise<readonly ExplainedError[]> {
  if (packageRoot === undefined) throw new Error('The docs of the package are missing.');
  const page = await readFile(new URL('docs/errors.md', packageRoot), 'utf8');
  return page.split('\n').flatMap((line) => {
    const [, code, , status, whatHappened = '', howToFixIt = '', retry] =
      /^\| `(\w+)`( \(\w+\))? \| (\d{3}) \| (.*?) \| (.*?) \| (yes|no) \|$/.exec(line) ?? [];
    return code === undefined
      ? []
      : [{ code, status: Number(status), whatHappened, howToFixIt, retryHelps: retry === 'yes' }];
  });
}
