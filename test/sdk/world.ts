import { Sandbank, type SandbankOptions } from '../../sdk/client.ts';
import type { Config } from '../../src/config.ts';
import type { Server } from '../../src/server.ts';
import { type DatabaseKind, openServer } from '../support/server.ts';
import { type KeySettings, type Tenant, tenant } from '../support/tenant.ts';

/** A server on a socket of its own, and clients of it. */
export interface World {
  readonly server: Server;
  readonly url: string;
  /** A client of an organization that nobody else has. It does not wait before a retry. */
  client(options?: SandbankOptions, settings?: KeySettings): Promise<Visitor>;
  close(): Promise<void>;
}

export interface Visitor {
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
