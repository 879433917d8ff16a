/**
 * A proxy between a server and its PostgreSQL that parses protocol messages. It forwards them until the message at which a test wants
 * a failure. The failure happens once, on that connection only.
 */
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

export type Side = 'client' | 'server';

/**
 * The failure at a message. `cut`: the connection is closed and the message is lost; `half`: the same after half of the message; `reset`:
 * both ends see a reset; `hole`: both ends stay connected, and nothing is forwarded any more.
 */
export type Break = 'cut' | 'half' | 'reset' | 'hole';

interface Breakage {
  /** The sender of the message, and the message's number, counted over all connections from now on. */
  readonly side: Side;
  readonly number: number;
  readonly how: Break;
}

export interface DatabaseProxy {
  readonly port: number;
  /** Sets the message to fail at. Replaces an earlier setting. */
  breakAt(breakage: Breakage): void;
  /** Clears the setting. Returns the type of the message that failed, such as `Q` or `C`; undefined if none did. */
  end(): string | undefined;
  /** Stops forwarding on all open connections. */
  silence(): void;
  /** Closes every connection at both ends. */
  cutAll(): void;
  close(): Promise<void>;
}

export async function openDatabaseProxy(targetPort: number): Promise<DatabaseProxy> {
  const sockets = new Set<Socket>();
  const silencers = new Set<() => void>();
  let planned: Breakage | undefined;
  let seen = 0;
  let broken: string | undefined;

  const proxy = createServer((client) => {
    const server = connect(targetPort, '127.0.0.1');
    let isOver = false;
    // Nothing is forwarded to the other end any more, not even a close.
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
          if (planned?.side === side && broken === undefined && seen++ === planned.number) {
            isOver = true;
            broken = message.type;
            breakHere(planned.how, to, message.bytes);
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
      planned = breakage;
      seen = 0;
      broken = undefined;
    },
    end: () => {
      planned = undefined;
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

/** A message is a type of one byte, its length and its content; the first message of a client has no type. */
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
