import { readFileSync } from 'node:fs';
import { errorBody } from '../kernel/envelope.ts';
import { type ErrorCode, refuse } from '../kernel/errors.ts';
import { packageRoot } from '../local/paths.ts';

/** What was once asked of an operation, and what it answered. */
export interface OperationExample {
  readonly request?: unknown;
  readonly response: unknown;
}

const file = new URL('docs/examples.json', packageRoot);
let kept: Readonly<Record<string, OperationExample>> | undefined;

/**
 * Real answers of a real server, by operation: `npm run golden` plays them anew. They are read when the document is first
 * asked for; a package without the file has a document without these examples.
 */
export function operationExamples(): Readonly<Record<string, OperationExample>> {
  kept ??= readExamples();
  return kept;
}

function readExamples(): Readonly<Record<string, OperationExample>> {
  try {
    return JSON.parse(readFileSync(file, 'utf8')) as Record<string, OperationExample>;
  } catch {
    return {};
  }
}

const requestId = 'req_01m7hsbbm0e008000000000001';

/** The answer that tells of an error when there is nothing more to say of it than the catalogue does. */
export function errorExample(code: ErrorCode): { readonly value: unknown } {
  return { value: JSON.parse(errorBody(refuse(code), requestId, '/docs')) as unknown };
}
