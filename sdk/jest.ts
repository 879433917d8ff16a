import { connectSandbank, type SandbankServer } from './testing/sandbank-server.ts';
import type { Tenant, TenantOptions } from './testing/tenant.ts';

export type { SandbankServer } from './testing/sandbank-server.ts';
export type { Tenant, TenantOptions } from './testing/tenant.ts';

let connected: SandbankServer | undefined;

/** The server of the test run, which the global set-up `sandbank/jest/setup` has started. */
export function sandbank(): SandbankServer {
  if (!process.env.SANDBANK_URL || !process.env.SANDBANK_OPERATOR_TOKEN)
    throw new Error(
      "The Sandbank server is missing. Set globalSetup: 'sandbank/jest/setup' and globalTeardown: 'sandbank/jest/teardown' in your Jest configuration.",
    );
  connected ??= connectSandbank();
  return connected;
}

type Body = (tenant: Tenant) => unknown;

/**
 * A test function with a new tenant, which is closed after the test:
 * `test('settles', withTenant(async (tenant) => { … }))`, or `withTenant({ clock: 'frozen' }, async (tenant) => { … })`.
 */
export function withTenant(body: Body): () => Promise<void>;
export function withTenant(options: TenantOptions, body: Body): () => Promise<void>;
export function withTenant(first: Body | TenantOptions, second?: Body): () => Promise<void> {
  const [options, body] = typeof first === 'function' ? [{}, first] : [first, second];
  if (typeof body !== 'function') throw new TypeError('withTenant() needs a test function.');
  // Without parameters: Jest would pass a callback to a function that has one.
  return async () => {
    const tenant = await sandbank().tenant(options);
    try {
      await body(tenant);
    } finally {
      await tenant.close();
    }
  };
}
