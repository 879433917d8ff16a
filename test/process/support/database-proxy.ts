/**
 * Stands between a server and its PostgreSQL and knows where a message of the protocol begins and ends. It passes messages on until
 * the one that it is told to break at; what happens there happens once, to that connection alone.
 */
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

export type Side = 'client' | 'server';

/**
 * What happens to a message: both ends are told that the connection has ended, with the message or with half of it lost; both see it
 * reset; or nothing is ever passed on again while both ends believe in the connection.
 */
export type Break = 'cut' | 'half' | 'reset' | 'hole';

export interface Breakage {
  /** Which side's message it is, counted over all connections from now on, and its number. */
  readonly side: Side;
  readonly number: number;
  readonly how: Break;
}

export interface DatabaseProxy {
  readonly port: number;
  /** Breaks at that message. What is asked for last counts. */
  breakAt(breakage: Breakage): void;
  /** The type of the message that was broken at, such as `Q` or `C`; undefined when there was none. Ends the order. */
  end(): string | undefined;
  /** Nothing passes any more over the connections that are open now. */
  silence(): void;
  /** Closes every connection at both ends. */
  cutAll(): void;
  close(): Promise<void>;
}

export async function openDatabaseProxy(targetPort: number): Promise<DatabaseProxy> {
  const sockets = new Set<Socket>();
  const silencers = new Set<() => void>();
  let order: Breakage | undefined;
  let seen = 0;
  let broken: string | undefined;

  const proxy = createServer((client) => {
    const server = connect(targetPort, '127.0.0.1');
    let isOver = false;
    // What one end does is not heard at the other any more, not even that it goes.
    let emitsNoEvent = false;
    const silence = () => {
      isOver = true;
      emitsNoEvent = true;
    };
    silencers.add(silence);
    for (const socket of [client, server]) {
      socket.setNoDelay(true);
      sockets.add(socket);
      socket.on('error', () => undefined);
      socket.on('close', () => {
        sockets.delete(socket);
        silencers.delete(silence);
        if (emitsNoEvent) return;
        client.destroy();
        server.destroy();
      });
    }
    const pass = (side: Side, from: Socket, to: Socket) => {
      const split = splitter(side === 'client');
      from.on('data', (bytes: Buffer) => {
        for (const message of split(bytes)) {
          if (isOver) return;
          if (order?.side === side && broken === undefined && seen++ === order.number) {
            isOver = true;
            broken = message.type;
            breakHere(order.how, to, message.bytes);
          } else to.write(message.bytes);
        }
      });
    };
    const breakHere = (how: Break, to: Socket, bytes: Buffer) => {
      if (how === 'hole') return silence();
      if (how === 'half') to.write(bytes.subarray(0, Math.floor(bytes.length / 2)));
      for (const socket of [client, server]) {
        if (how === 'reset') socket.resetAndDestroy();
        else socket.end();
      }
    };
    pass('client', client, server);
    pass('server', server, client);
  });
  proxy.listen(0, '127.0.0.1');
  await once(proxy, 'listening');
  const cutAll = () => {
    for (const socket of sockets) socket.destroy();
  };
  return {
    port: (proxy.address() as AddressInfo).port,
    breakAt: (breakage) => {
      order = breakage;
      seen = 0;
      broken = undefined;
    },
    end: () => {
      order = undefined;
      return broken;
    },
    silence: () => {
      for (const silence of silencers) silence();
    },
    cutAll,
    close: async () => {
      cutAll();
      proxy.close();
      await once(proxy, 'close');
    },
  };
}

interface Message {
  readonly type: string;
  readonly bytes: Buffer;
}

/** A message is a type of one byte and its length; the first of a client has no type. */
function splitter(isClient: boolean): (bytes: Buffer) => readonly Message[] {
  let rest: Buffer = Buffer.alloc(0);
  let isFirst = isClient;
  return (bytes) => {
    rest = Buffer.concat([rest, bytes]);
    const messages: Message[] = [];
    for (;;) {
      const head = isFirst ? 0 : 1;
      if (rest.length < head + 4) return messages;
      const length = head + rest.readInt32BE(head);
      if (rest.length < length) return messages;
      const type = isFirst ? 'startup' : rest.toString('latin1', 0, 1);
      messages.push({ type, bytes: rest.subarray(0, length) });
      rest = rest.subarray(length);
      isFirst = false;
    }
  };
}
