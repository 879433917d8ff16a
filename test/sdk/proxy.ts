import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

/** Stands between a client and a server, passes bytes on, and breaks connections when told. */
export interface Proxy {
  readonly url: string;
  /**
   * The next answer is lost: the server has given it, which it does after the commit, and the client gets none of it, or only
   * its first bytes.
   */
  loseNextAnswer(bytesPassed?: number): void;
  close(): Promise<void>;
}

export async function openProxy(target: string): Promise<Proxy> {
  const { port, hostname } = new URL(target);
  const sockets = new Set<Socket>();
  let losing: number | undefined;
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
      if (losing === undefined) return void client.write(chunk);
      const passed = chunk.subarray(0, losing);
      losing = undefined;
      if (passed.length === 0) client.destroy();
      else client.write(passed, () => client.destroy());
    });
  });
  proxy.listen(0, '127.0.0.1');
  await once(proxy, 'listening');
  return {
    url: `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`,
    loseNextAnswer: (bytesPassed = 0) => {
      losing = bytesPassed;
    },
    close: async () => {
      for (const socket of sockets) socket.destroy();
      proxy.close();
      await once(proxy, 'close');
    },
  };
}
