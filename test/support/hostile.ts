/** Receivers that do not mean well, down to the bytes: what `node:http` would never send. */
import { generateKeyPairSync, sign } from 'node:crypto';
import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { createServer as createTlsServer } from 'node:tls';

/** What it does with a connection, the first being number 1. */
export type Behave = (socket: Socket, connection: number) => void;

export interface Hostile {
  readonly port: number;
  /** On 127.0.0.1 by http unless told. */
  readonly url: string;
  /** Connections, those on which something was asked, those of them that are still open, and the bytes it got rid of. */
  readonly seen: { connections: number; requests: number; open: number; bytes: number };
  close(): Promise<void>;
}

export interface HostileSettings {
  readonly host?: string;
  /** Speaks TLS with this certificate. */
  readonly certificate?: Certificate;
}

export async function openHostile(behave: Behave, settings: HostileSettings = {}): Promise<Hostile> {
  const { host = '127.0.0.1', certificate } = settings;
  const sockets = new Set<Socket>();
  const seen = { connections: 0, requests: 0, open: 0, bytes: 0 };
  const greet = (socket: Socket) => {
    sockets.add(socket);
    seen.connections += 1;
    socket.on('error', () => undefined);
    socket.on('close', () => {
      sockets.delete(socket);
      seen.bytes += socket.bytesWritten;
    });
    behave(socket, seen.connections);
    // Last, so that one which does not read stays so.
    socket.once('data', () => {
      seen.requests += 1;
      seen.open += 1;
      socket.once('close', () => {
        seen.open -= 1;
      });
    });
  };
  const server = certificate ? createTlsServer(certificate, greet) : createServer(greet);
  server.on('tlsClientError', () => undefined);
  server.listen(0, host);
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const shownHost = host.includes(':') ? `[${host}]` : host;
  return {
    port,
    url: `${certificate ? 'https' : 'http'}://${shownHost}:${port}/hook`,
    seen,
    close: async () => {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, 'close');
    },
  };
}

/** Waits for the request, at least for the beginning of it, and then does this. */
export const heard =
  (then: (socket: Socket) => void): Behave =>
  (socket) => {
    socket.once('data', () => {
      then(socket);
      socket.resume();
    });
  };

/** Answers with these bytes and ends the connection. */
export const saying = (bytes: string | Buffer): Behave => heard((socket) => socket.end(bytes));

/** Answers with these bytes and then says nothing more, for as long as the other side stays. */
export const stalling = (bytes: string | Buffer = ''): Behave =>
  heard((socket) => {
    if (bytes.length > 0) socket.write(bytes);
  });

/** After a beginning the same bytes for ever: as fast as they are taken, or so many milliseconds apart. */
export const repeating = (start: string, bytes: string | Buffer, everyMs = 0): Behave =>
  heard((socket) => {
    socket.write(start);
    const chunk = Buffer.from(bytes);
    if (everyMs > 0) {
      const timer = setInterval(() => socket.write(chunk), everyMs);
      socket.on('close', () => clearInterval(timer));
      return;
    }
    const pour = () => {
      while (!socket.destroyed && socket.write(chunk));
    };
    socket.on('drain', pour);
    pour();
  });

/** A whole answer, with its length. */
export function answer(status: string, body = '', headers = ''): string {
  return `HTTP/1.1 ${status}\r\n${headers}content-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`;
}

export interface Certificate {
  readonly key: string;
  readonly cert: string;
}

/** A certificate that only its owner vouches for, from one year to another. Made here: a file would expire, or leak a key. */
export function selfSigned(fromYear: number, toYear: number): Certificate {
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const ecdsaWithSha256 = sequence(der(0x06, Buffer.from('2a8648ce3d040302', 'hex')));
  const commonName = sequence(der(0x06, Buffer.from('550403', 'hex')), der(0x0c, Buffer.from('hostile')));
  const name = sequence(der(0x31, commonName));
  const time = (year: number) => der(0x18, Buffer.from(`${year}0101000000Z`));
  const named = sequence(
    ...[der(0x02, Buffer.from([1])), ecdsaWithSha256, name, sequence(time(fromYear), time(toYear)), name],
    publicKey.export({ type: 'spki', format: 'der' }),
  );
  const signature = der(0x03, Buffer.from([0]), sign('sha256', named, privateKey));
  const base64 = sequence(named, ecdsaWithSha256, signature).toString('base64');
  return {
    key: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
    cert: `-----BEGIN CERTIFICATE-----\n${base64}\n-----END CERTIFICATE-----\n`,
  };
}

function sequence(...parts: readonly Buffer[]): Buffer {
  return der(0x30, ...parts);
}

/** A value of ASN.1: its tag, its length and itself. */
function der(tag: number, ...parts: readonly Buffer[]): Buffer {
  const content = Buffer.concat(parts);
  const { length } = content;
  const size = length < 128 ? [length] : [0x82, length >> 8, length & 255];
  return Buffer.concat([Buffer.from([tag, ...size]), content]);
}
