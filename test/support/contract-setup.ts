import { afterAll, afterEach } from 'vitest';
import { breaches } from './contract-tally.ts';

/** Runs in every test file: an answer that the OpenAPI document does not describe fails the test that brought it about. */
function expectNoBreach(): void {
  const found = breaches.splice(0);
  if (found.length === 0) return;
  const shown = [...new Set(found)].slice(0, 10).join('\n\n');
  throw new Error(`The OpenAPI document is not what the server does (${found.length} answers):\n\n${shown}`);
}

afterEach(expectNoBreach);
afterAll(expectNoBreach);
