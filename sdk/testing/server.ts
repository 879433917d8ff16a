import type { SnapshotBody } from '../operator.ts';
import type { OptionNames } from '../options.ts';

export interface ServerOptions {
  /** A free port by default. */
  readonly port?: number | undefined;
  /** Makes ids and timestamps reproducible, byte for byte. */
  readonly seed?: string | number | undefined;
  /** `fatal`, `error`, `warn`, `info`, `debug` or `trace`, to standard output; no logs by default. */
  readonly logLevel?: string | undefined;
  /** An organization to import at the start, as `sandbank export` writes it. */
  readonly snapshot?: SnapshotBody | undefined;
}

export const serverOptionNames: OptionNames<ServerOptions> = {
  port: true,
  seed: true,
  logLevel: true,
  snapshot: true,
};

export interface StartedServer {
  readonly url: string;
  readonly operatorToken: string;
  close(): Promise<void>;
}

/**
 * The only part of the SDK that loads the server. The import is dynamic, so that test files which only connect to a server do not
 * load one, and so that CommonJS can use the server, which is an ES module.
 */
export async function startServer({ port, seed, logLevel }: ServerOptions): Promise<StartedServer> {
  const { startEmbedded } = await import('../../src/embedded.ts');
  return startEmbedded({ port, seed, logLevel });
}
