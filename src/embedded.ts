import { readConfig } from './config.ts';
import { createServer } from './server.ts';

/** A server inside of another program, such as a test run. */
export interface Embedded {
  readonly url: string;
  readonly operatorToken: string;
  close(): Promise<void>;
}

export interface EmbeddedOptions {
  /** A free one unless told. */
  readonly port?: number | undefined;
  /** Makes ids and times repeat; see docs/deterministic.md. */
  readonly seed?: string | number | undefined;
  /** What the server says about itself; `silent` unless told. */
  readonly logLevel?: string | undefined;
}

/** Starts a server in memory, by the same settings as the command line: nothing is left behind, and no variable of the caller's counts. */
export async function startEmbedded(options: EmbeddedOptions = {}): Promise<Embedded> {
  const { port = 0, seed, logLevel = 'silent' } = options;
  const config = readConfig(
    {
      port: String(port),
      data: 'memory',
      deterministic: seed === undefined ? undefined : String(seed),
    },
    { LOG_LEVEL: logLevel },
  );
  const server = await createServer(config);
  try {
    const url = await server.listen();
    const { operatorToken } = server;
    if (operatorToken === undefined) throw new Error('an embedded server has an operator');
    return { url, operatorToken, close: () => server.close() };
  } catch (error) {
    await server.close();
    throw error;
  }
}
