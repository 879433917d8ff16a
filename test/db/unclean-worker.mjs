// The worker thread of an embedded database that never leaves its transaction: what a new connection finds is not clean.
import { PGlite } from '@electric-sql/pglite';

const { execProtocolRaw } = PGlite.prototype;
PGlite.prototype.execProtocolRaw = async function unclean(message, options) {
  const answer = (await execProtocolRaw.call(this, message, options)).slice();
  if (answer.at(-6) === 0x5a) answer[answer.length - 1] = 0x54;
  return answer;
};

await import('../../dist/src/db/pglite-worker.js');
