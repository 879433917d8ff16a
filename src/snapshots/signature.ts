import { createHash } from 'node:crypto';
import type { Vault } from '../engine/vault.ts';
import { empty, incomplete, isEndLine, readEnd, SnapshotProblem } from './format.ts';
import type { NumberedLine } from './import.ts';

/** Throws unless the end line has this server's signature of all lines before it. */
export async function checkSignature(
  lines: AsyncIterable<NumberedLine>,
  vault: Pick<Vault, 'isSignature'>,
): Promise<void> {
  const hash = createHash('sha256');
  let last: NumberedLine | undefined;
  for await (const line of lines) {
    if (last) hash.update(`${last.text}\n`);
    last = line;
  }
  if (!last) throw empty();
  if (!isEndLine(last.text)) throw incomplete(last.number);
  const { signature } = readEnd(last.text, last.number);
  if (signature === undefined || !vault.isSignature(signature, hash.digest('hex')))
    throw new SnapshotProblem(
      last.number,
      'the file was changed after the export, or another server exported it. The operator of this server can import it with the command line.',
    );
}
