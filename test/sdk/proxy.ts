import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

/** A TCP proxy between a client and a server that forwards bytes and drops a connection on request. */
export interface Proxy {
  readonly url: string;
  /**
   * Drops the next response: the server has committed and sent it, and the client receives none of it, or only its first
   * `bytesPassed` bytes.
   */
  dropNextResponse(bytesPassed?: number): void;
  close(): Promise<void>;
}

export async function openProxy(target: string): Promise<Proxy> {
  const { port, hostname } = new URL(target);
  const sockets = new Set<Socket>();
  let bytesBeforeDrop: number | undefined;
  const proxy = createServer((client) => {
    const server = connect(Number(port), hostname);
    for (const socket of [client, server]) {
      sockets.add(socket);
      socket.on('error', () => undefined);
      socket.on('close', () => {
        sockets.delete(socket);
        client.destroy();
        server.destroy();
      });
    }
    client.on('data', (chunk) => server.write(chunk));
    server.on('data', (chunk: Buffer) => {
      if (bytesBeforeDrop === undefined) return void client.write(chunk);
      const passed = chunk.subarray(0, bytesBeforeDrop);
      bytesBeforeDrop = undefined;
      if (passed.length === 0) client.destroy();
      else client.write(passed, () => client.destroy());
    });
  });
  proxy.listen(0, '127.0.0.1');
  await once(proxy, 'listening');
  return {
    url: `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`,
    dropNextResponse: (bytesPassed = 0) => {
      bytesBeforeDrop = bytesPassed;
    },
    close: async () => {
      for (const socket of sockets) socket.destroy();
      proxy.close();
      await once(proxy, 'close');
    },
  };
}
