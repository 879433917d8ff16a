import { readFileSync } from 'node:fs';
import { errorObject } from '../kernel/envelope.ts';
import { type ErrorCode, refuse } from '../kernel/errors.ts';
import { packageRoot } from '../local/paths.ts';

/** A recorded request of an operation and its response. */
export interface OperationExample {
  readonly request?: unknown;
  readonly response: unknown;
}

const file = new URL('docs/examples.json', packageRoot);

/**
 * Recorded responses of a real server, by operation; `npm run golden` records them again. A package without the file serves a
 * document without these examples.
 */
export function readExamples(): Readonly<Record<string, OperationExample>> {
  try {
    return JSON.parse(readFileSync(file, 'utf8')) as Record<string, OperationExample>;
  } catch {
    return {};
  }
}

const requestId = 'req_01m7hsbbm0e008000000000001';

/** The response for an error without details beyond the catalogue entry. */
export function errorExample(code: ErrorCode): { readonly value: unknown } {
  return { value: errorObject(refuse(code), requestId, '/docs') };
}
