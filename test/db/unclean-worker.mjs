// The worker thread of an embedded database that never ends its transaction, so that the session of the next caller is not clean.
import { PGlite } from '@electric-sql/pglite';

const { execProtocolRawStream } = PGlite.prototype;
PGlite.prototype.execProtocolRawStream = function unclean(message, { onRawData, ...options }) {
  return execProtocolRawStream.call(this, message, {
    ...options,
    onRawData: (chunk) => {
      const answer = chunk.slice();
      if (answer.at(-6) === 0x5a) answer[answer.length - 1] = 0x54;
      onRawData(answer);
    },
  });
};

await import('../../dist/src/pglite-worker.js');
