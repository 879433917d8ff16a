import { once } from 'node:events';
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';

/** The port is taken. */
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

/** A port that belongs to this process while its server is being prepared. */
export interface ReservedPort {
  /** Frees the port for the server and returns the connections that arrived early, to be served by it. */
  release(): Promise<readonly Socket[]>;
}

// One that is opened while the server starts waits for it. More than these are closed.
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
        // It calls back when all connections have ended as well, which these have not.
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
