/** Hostile receivers that send raw bytes, which `node:http` would never send. */
import { generateKeyPairSync, sign } from 'node:crypto';
import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { createServer as createTlsServer } from 'node:tls';

/** Handles a connection; the first one has number 1. */
export type Behave = (socket: Socket, connection: number) => void;

export interface Hostile {
  readonly port: number;
  /** By default http on 127.0.0.1. */
  readonly url: string;
  /** Counts of connections, of those with a request, of those that are still open, and of the bytes sent. */
  readonly seen: { connections: number; requests: number; open: number; bytes: number };
  close(): Promise<void>;
}

export interface HostileSettings {
  readonly host?: string;
  /** Uses TLS with this certificate. */
  readonly certificate?: Certificate;
}

export async function openHostile(behave: Behave, settings: HostileSettings = {}): Promise<Hostile> {
  const { host = '127.0.0.1', certificate } = settings;
  const sockets = new Set<Socket>();
  const seen = { connections: 0, requests: 0, open: 0, bytes: 0 };
  const accept = (socket: Socket) => {
    sockets.add(socket);
    seen.connections += 1;
    socket.on('error', () => undefined);
    socket.on('close', () => {
      sockets.delete(socket);
      seen.bytes += socket.bytesWritten;
    });
    behave(socket, seen.connections);
    // After `behave`: adding a listener would resume a socket that is paused on purpose.
    socket.once('data', () => {
      seen.requests += 1;
      seen.open += 1;
      socket.once('close', () => {
        seen.open -= 1;
      });
    });
  };
  const server = certificate ? createTlsServer(certificate, accept) : createServer(accept);
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

/** Waits for the first bytes of the request. */
export const onRequest =
  (then: (socket: Socket) => void): Behave =>
  (socket) => {
    socket.once('data', () => {
      then(socket);
      socket.resume();
    });
  };

/** Sends these bytes and closes the connection. */
export const respondWith = (bytes: string | Buffer): Behave => onRequest((socket) => socket.end(bytes));

/** Sends these bytes and then nothing more, and keeps the connection open. */
export const stallAfter = (bytes: string | Buffer = ''): Behave =>
  onRequest((socket) => {
    if (bytes.length > 0) socket.write(bytes);
  });

/** Sends a start and then the same bytes endlessly: as fast as the client reads, or every `everyMs` milliseconds. */
export const repeatForever = (start: string, bytes: string | Buffer, everyMs = 0): Behave =>
  onRequest((socket) => {
    socket.write(start);
    const chunk = Buffer.from(bytes);
    if (everyMs > 0) {
      const timer = setInterval(() => socket.write(chunk), everyMs);
      socket.on('close', () => clearInterval(timer));
      return;
    }
    const writeMore = () => {
      while (!socket.destroyed && socket.write(chunk));
    };
    socket.on('drain', writeMore);
    writeMore();
  });

/** A complete response with its Content-Length. */
export function responseBytes(status: string, body = '', headers = ''): string {
  return `HTTP/1.1 ${status}\r\n${headers}content-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`;
}

export interface Certificate {
  readonly key: string;
  readonly cert: string;
}

/** A self-signed certificate, valid from one year to another. Generated, because a file would expire or leak a key. */
export function selfSigned(fromYear: number, toYear: number): Certificate {
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const ecdsaWithSha256 = sequence(der(0x06, Buffer.from('2a8648ce3d040302', 'hex')));
  const commonName = sequence(der(0x06, Buffer.from('550403', 'hex')), der(0x0c, Buffer.from('hostile')));
  const name = sequence(der(0x31, commonName));
  const time = (year: number) => der(0x18, Buffer.from(`${year}0101000000Z`));
  const tbsCertificate = sequence(
    ...[der(0x02, Buffer.from([1])), ecdsaWithSha256, name, sequence(time(fromYear), time(toYear)), name],
    publicKey.export({ type: 'spki', format: 'der' }),
  );
  const signature = der(0x03, Buffer.from([0]), sign('sha256', tbsCertificate, privateKey));
  const base64 = sequence(tbsCertificate, ecdsaWithSha256, signature).toString('base64');
  return {
    key: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
    cert: `-----BEGIN CERTIFICATE-----\n${base64}\n-----END CERTIFICATE-----\n`,
  };
}

function sequence(...parts: readonly Buffer[]): Buffer {
  return der(0x30, ...parts);
}

/** An ASN.1 value in DER: tag, length, content. */
function der(tag: number, ...parts: readonly Buffer[]): Buffer {
  const content = Buffer.concat(parts);
  const { length } = content;
  const size = length < 128 ? [length] : [0x82, length >> 8, length & 255];
  return Buffer.concat([Buffer.from([tag, ...size]), content]);
}
