import type { SnapshotBody } from '../operator.ts';

export interface ServerOptions {
  /** A free one unless told. */
  readonly port?: number | undefined;
  /** Makes ids and times repeat, byte for byte. */
  readonly seed?: string | number | undefined;
  /** `fatal`, `error`, `warn`, `info`, `debug` or `trace`, to standard output; nothing unless told. */
  readonly logLevel?: string | undefined;
  /** An organization to begin with, as `sandbank export` writes it. */
  readonly snapshot?: SnapshotBody | undefined;
}

export interface StartedServer {
  readonly url: string;
  readonly operatorToken: string;
  close(): Promise<void>;
}

/** The one place of the SDK that reaches the server itself. It is loaded when it starts: tests that only connect do not need it. */
export async function startServer({ port, seed, logLevel }: ServerOptions): Promise<StartedServer> {
  const { startEmbedded } = await import('../../src/embedded.ts');
  return startEmbedded({ port, seed, logLevel });
}
