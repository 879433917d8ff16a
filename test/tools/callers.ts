/** The command line of each generator, and a program that uses its client: create a payment, then capture part of it. */
export interface Generator {
  readonly name: string;
  readonly commands: readonly (readonly [tool: string, ...args: string[]])[];
  readonly program: string;
}

const settings = `const [url = '', key = ''] = process.argv.slice(2);`;

export const generators: readonly Generator[] = [
  {
    name: 'openapi-typescript',
    commands: [['openapi-typescript', 'openapi.json', '-o', 'schema.d.ts']],
    program: `
import createClient from 'openapi-fetch';
import type { paths } from './schema';

${settings}
const client = createClient<paths>({ baseUrl: url, headers: { Authorization: \`Bearer \${key}\` } });
const { data: payment } = await client.POST('/_api/developer_api_payments', {
  params: { header: { 'Idempotency-Key': 'openapi-typescript-create' } },
  body: { amount: 1250, currency: 'EUR' },
});
const { data: captured } = await client.POST('/_api/developer_api_payments/{id}/advance', {
  params: { header: { 'Idempotency-Key': 'openapi-typescript-capture' }, path: { id: payment?.id ?? '' } },
  body: { action: 'capture', amount: 1000 },
});
console.log(captured?.status);
`,
  },
  {
    name: 'hey-api',
    commands: [['openapi-ts', '-i', 'openapi.json', '-o', 'generated']],
    program: `
import { client } from './generated/client.gen';
import { advancePayment, createPayment } from './generated/sdk.gen';

${settings}
client.setConfig({ baseUrl: url, auth: key });
const { data: payment } = await createPayment({
  headers: { 'Idempotency-Key': 'hey-api-create' },
  body: { amount: 1250, currency: 'EUR' },
});
const { data: captured } = await advancePayment({
  headers: { 'Idempotency-Key': 'hey-api-capture' },
  path: { id: payment?.id ?? '' },
  body: { action: 'capture', amount: 1000 },
});
console.log(captured?.status);
`,
  },
  {
    name: 'orval',
    commands: [
      ['orval', '--input', 'openapi.json', '--output', 'client.ts', '--client', 'fetch'],
      ['orval', '--input', 'openapi.json', '--output', 'zod.ts', '--client', 'zod'],
    ],
    program: `
import { advancePayment, createPayment } from './client';
import { advancePaymentResponse, createPaymentBody } from './zod';

${settings}
const send = fetch;
// The client requests paths without a host, like a page on the same site.
globalThis.fetch = (path, init) => send(new URL(String(path), url), init);
const options = (name: string) => ({
  headers: { Authorization: \`Bearer \${key}\`, 'Idempotency-Key': \`orval-\${name}\`, 'Content-Type': 'application/json' },
});
const created = await createPayment(createPaymentBody.parse({ amount: 1250, currency: 'EUR' }), options('create'));
if (created.status !== 201) throw new Error(JSON.stringify(created.data));
const captured = await advancePayment(created.data.id, { action: 'capture', amount: 1000 }, undefined, options('capture'));
if (captured.status !== 200) throw new Error(JSON.stringify(captured.data));
console.log(advancePaymentResponse.parse(captured.data).status);
`,
  },
];
