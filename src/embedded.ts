import type { Server as HttpServer } from 'node:http';
import type { Socket } from 'node:net';
import { readConfig } from './config.ts';
import { createServer } from './server.ts';

/** A server inside another program, such as a test run. It does not keep that program alive. */
export interface Embedded {
  readonly url: string;
  readonly operatorToken: string;
  close(): Promise<void>;
}

export interface EmbeddedOptions {
  /** A free port by default. */
  readonly port?: number | undefined;
  /** Makes ids and times repeat; see docs/deterministic.md. */
  readonly seed?: string | number | undefined;
  /** `silent` by default. */
  readonly logLevel?: string | undefined;
}

/** Starts an in-memory server with the command line's defaults. It leaves no files behind and reads no environment variables. */
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
    releaseProcess(server.app.server);
    const { operatorToken } = server;
    if (operatorToken === undefined) throw new Error('an embedded server must have an operator token');
    return { url, operatorToken, close: () => keepingAlive(server.close()) };
  } catch (error) {
    await server.close();
    throw error;
  }
}

/** The server's sockets do not keep the process alive, so it would exit in the middle of a shutdown. */
async function keepingAlive(work: Promise<void>): Promise<void> {
  const timer = setInterval(() => undefined, 60_000);
  try {
    await work;
  } finally {
    clearInterval(timer);
  }
}

/** Lets the process exit although the server listens. A client in this process keeps it alive while it waits for a response. */
function releaseProcess(server: HttpServer): void {
  server.unref();
  server.on('connection', (socket: Socket) => socket.unref());
}
