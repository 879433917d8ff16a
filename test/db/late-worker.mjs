// The worker thread of the embedded database with randomly delayed responses, as on a slow machine or in a suspended process.
// Environment variables of the parent thread: LATE_SEED and LATE_MS_MAX (milliseconds).
import process from 'node:process';
import { setTimeout } from 'node:timers/promises';
import { PGlite } from '@electric-sql/pglite';

const msMax = Number(process.env.LATE_MS_MAX ?? '0');
let state = Number(process.env.LATE_SEED ?? '1') >>> 0;

function random() {
  state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
  return state / 2 ** 32;
}

const { execProtocolRawStream } = PGlite.prototype;
PGlite.prototype.execProtocolRawStream = async function late(message, options) {
  const isLate = random() < 0.2;
  const waits = isLate && random() < 0.5;
  if (isLate && !waits) await setTimeout(random() * msMax);
  await execProtocolRawStream.call(this, message, options);
  if (waits) await setTimeout(random() * msMax);
};

await import('../../dist/src/pglite-worker.js');
