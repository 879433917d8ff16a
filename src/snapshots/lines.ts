import { isHeaderLine, SnapshotProblem } from './format.ts';
import type { NumberedLine } from './import.ts';

const lineBytesMax = 1024 * 1024;
const newline = 0x0a;

/** Splits bytes into numbered lines. It buffers at most one line and one chunk. */
export async function* linesOf(bytes: AsyncIterable<Uint8Array>): AsyncGenerator<NumberedLine> {
  let number = 0;
  let rest: Buffer = Buffer.alloc(0);
  // A byte order mark is a change of the line, and must not disappear before the SHA-256 is computed.
  const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
  const read = (line: Uint8Array): NumberedLine => {
    number += 1;
    if (line.length > lineBytesMax) throw new SnapshotProblem(number, 'the line is longer than 1 MiB.');
    try {
      return { number, text: decoder.decode(line) };
    } catch {
      throw new SnapshotProblem(number, 'the line is not UTF-8.');
    }
  };
  for await (const piece of bytes) {
    let from = 0;
    const all = rest.length === 0 ? Buffer.from(piece) : Buffer.concat([rest, piece]);
    for (let at = all.indexOf(newline); at !== -1; at = all.indexOf(newline, from)) {
      yield read(all.subarray(from, at));
      from = at + 1;
    }
    rest = all.subarray(from);
    if (rest.length > lineBytesMax) read(rest);
  }
  if (rest.length > 0) yield { ...read(rest), isTruncated: true };
}

/** Splits a file with several snapshots into one iterator per snapshot. */
export async function* snapshotsOf(
  lines: AsyncIterable<NumberedLine>,
): AsyncGenerator<AsyncGenerator<NumberedLine>> {
  const iterator = lines[Symbol.asyncIterator]();
  let next = await iterator.next();
  async function* one(): AsyncGenerator<NumberedLine> {
    if (next.done) return;
    yield next.value;
    for (
      next = await iterator.next();
      !next.done && !isHeaderLine(next.value.text);
      next = await iterator.next()
    )
      yield next.value;
  }
  while (!next.done) {
    const { number } = next.value;
    yield one();
    // Skip the part that the consumer did not read.
    if (next.value?.number === number) next = await iterator.next();
    while (!next.done && !isHeaderLine(next.value.text)) next = await iterator.next();
  }
}
