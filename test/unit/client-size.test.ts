import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import { rolldown } from 'rolldown';
import { expect, test } from 'vitest';

/** The client also runs in workers and browsers. */
const bytesMax = 10_000;

test(`the client with webhook verification is smaller than ${bytesMax} bytes, minified and compressed`, async () => {
  const bundle = await rolldown({
    input: fileURLToPath(new URL('../../sdk/client.ts', import.meta.url)),
    platform: 'browser',
  });
  const { output } = await bundle.generate({ format: 'esm', minify: true });
  await bundle.close();
  expect(output).toHaveLength(1);
  expect(output[0].imports).toEqual([]);
  const bytes = gzipSync(output[0].code, { level: 9 }).length;
  console.info(`client: ${output[0].code.length} bytes minified, ${bytes} compressed`);
  expect(bytes).toBeLessThan(bytesMax);
});
