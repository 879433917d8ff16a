import { test as base, inject } from 'vitest';
import type { SandbankAddress } from './testing/run-server.ts';
import { connectSandbank, type SandbankServer } from './testing/sandbank-server.ts';
import type { Tenant, TenantOptions } from './testing/tenant.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** Provided by the global set-up `sandbank/vitest/setup`. */
    sandbank: SandbankAddress;
  }
}

export interface SandbankFixtures {
  /** The server of the test run. */
  sandbank: SandbankServer;
  /** Options of `tenant`; change them with `test.override('tenantOptions', { clock: 'frozen' })`. */
  tenantOptions: TenantOptions;
  /** A new tenant, which is closed after the test. */
  tenant: Tenant;
}

/** The API rejects longer names. */
const nameLengthMax = 200;

/** The `test` function of Vitest with a `tenant` for each test that uses it. */
export const test = base.extend<SandbankFixtures>({
  // biome-ignore lint/correctness/noEmptyPattern: Vitest reads the dependencies of a fixture from this pattern.
  sandbank: async ({}, use) => {
    const address = inject('sandbank');
    if (address === undefined)
      throw new Error(
        "The Sandbank server is missing. Add 'sandbank/vitest/setup' to test.globalSetup in your Vitest configuration.",
      );
    await use(connectSandbank(address));
  },
  tenantOptions: {},
  tenant: async ({ sandbank, tenantOptions, task }, use) => {
    const tenant = await sandbank.tenant({ name: task.name.slice(0, nameLengthMax), ...tenantOptions });
    await use(tenant);
    await tenant.close();
  },
});

export { test as it };
