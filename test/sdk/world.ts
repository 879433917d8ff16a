import { Sandbank, type SandbankOptions } from '../../sdk/client.ts';
import type { Config } from '../../src/config.ts';
import type { Server } from '../../src/server.ts';
import { type DatabaseKind, openServer } from '../support/server.ts';
import { type KeySettings, type Tenant, tenant } from '../support/tenant.ts';

/** A listening server, and clients for it. */
export interface World {
  readonly server: Server;
  readonly url: string;
  /** A client of a new organization. It retries without delay. */
  client(options?: SandbankOptions, settings?: KeySettings): Promise<TestClient>;
  close(): Promise<void>;
}

interface TestClient {
  readonly sandbank: Sandbank;
  readonly tenant: Tenant;
}

export async function openWorld(kind: DatabaseKind, overrides: Partial<Config> = {}): Promise<World> {
  const server = await openServer(kind, overrides);
  const url = await server.listen();
  return {
    server,
    url,
    client: async (options = {}, settings = {}) => {
      const owner = await tenant(server, settings);
      const sandbank = new Sandbank({
        apiKey: owner.key,
        baseUrl: url,
        sleep: () => Promise.resolve(),
        ...options,
      });
      return { sandbank, tenant: owner };
    },
    close: () => server.close(),
  };
}
