import { expect, test } from 'vitest';
import { linesOf } from './lines.ts';

async function* chunks(...parts: readonly string[]) {
  for (const part of parts) yield Buffer.from(part);
}

// Otherwise the SHA-256 of the lines would not show that the file was changed.
test('a byte order mark is a part of its line', async () => {
  const lines: string[] = [];
  for await (const { text } of linesOf(chunks('\ufeff{}\n', '\ufeff{}\n'))) lines.push(text);
  expect(lines).toEqual(['\ufeff{}', '\ufeff{}']);
});
