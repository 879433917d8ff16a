import { once } from 'node:events';
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';

/** Another process uses the port. */
export class PortInUse extends Error {
  override readonly name = 'PortInUse';
  readonly port: number;
  /** The next port that was free a moment ago; undefined when none was found. */
  readonly free: number | undefined;

  constructor(port: number, free: number | undefined) {
    super(`Port ${port} is in use.`);
    this.port = port;
    this.free = free;
  }
}

/** A port that this process holds while its server starts. */
export interface ReservedPort {
  /** Releases the port and returns the early connections, which the server then serves. */
  release(): Promise<readonly Socket[]>;
}

// Connections that clients open while the server starts wait for it. Connections above this limit are closed.
const earlyConnectionsMax = 100;
const portsTried = 20;

/** Binds the port before anything else is created. It does not keep the process running. */
export async function reservePort(port: number, host: string): Promise<ReservedPort> {
  const early = new Set<Socket>();
  const server = createServer({ pauseOnConnect: true }, (socket) => {
    early.add(socket.unref());
    socket.on('error', () => undefined).once('close', () => early.delete(socket));
  });
  server.maxConnections = earlyConnectionsMax;
  const error = await bind(server, port, host);
  if (error?.code === 'EADDRINUSE') throw new PortInUse(port, await freePortAfter(port, host));
  if (error) throw error;
  server.unref();
  return {
    release: () =>
      new Promise((resolve) => {
        // Do not wait for the callback: it fires after all connections have ended, and the early ones stay open.
        server.close();
        setImmediate(() => resolve([...early].map((socket) => socket.ref())));
      }),
  };
}

async function freePortAfter(port: number, host: string): Promise<number | undefined> {
  for (let next = port + 1; next <= Math.min(port + portsTried, 65_535); next += 1) {
    const server = createServer();
    if ((await bind(server, next, host)) === undefined) {
      const { port: free } = server.address() as AddressInfo;
      server.close();
      return free;
    }
  }
  return undefined;
}

async function bind(server: Server, port: number, host: string): Promise<NodeJS.ErrnoException | undefined> {
  try {
    await once(server.listen(port, host), 'listening');
    return undefined;
  } catch (error) {
    return error as NodeJS.ErrnoException;
  }
}
