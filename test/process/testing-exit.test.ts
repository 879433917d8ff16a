// A program that uses the test kit exits by itself, whether it closes its server or not.
import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { testNodeArgs } from '../support/processes.ts';

const run = promisify(execFile);
const root = fileURLToPath(new URL('../..', import.meta.url));

/** Resolves when the process has exited with 0. */
async function output(code: string): Promise<string> {
  const program = `import { startSandbank } from 'sandbank/testing';
    const sandbank = await startSandbank();
    const tenant = await sandbank.tenant();
    const webhooks = await tenant.webhooks.capture();
    const euros = { amount: 1250, currency: 'EUR' };
    ${code}`;
  const args = [...testNodeArgs, '--input-type=module', '--eval', program];
  const { stdout } = await run(process.execPath, args, { cwd: root });
  return stdout;
}

test('without close() it exits, after the pending requests have completed', async () => {
  const code = `const first = await tenant.client.payments.create(euros);
    await tenant.client.payments.advance(first.id, { to: 'settled' });
    await webhooks.waitFor('payment.settled');
    for (let i = 0; i < 5; i += 1)
      void tenant.client.payments.create(euros).then(({ status }) => console.log(status));`;
  expect(await output(code)).toBe('pending\n'.repeat(5));
});

test('close() completes, also when nothing else keeps the process alive', async () => {
  const code = `await tenant.client.payments.create(euros);
    await sandbank.close();
    console.log('closed');`;
  expect(await output(code)).toBe('closed\n');
});
