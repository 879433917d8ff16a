/**
 * The load generator: raw sockets, prebuilt requests, one request in flight per connection. It runs in the bench process,
 * which is otherwise idle. Its CPU share is measured in every round.
 */
import { connect, type Socket } from 'node:net';
import { createHistogram, performance } from 'node:perf_hooks';
import type { Measurement } from './measurement.ts';
import type { NextRequest, Request } from './requests.ts';
import { ResponseReader } from './responses.ts';

const CONNECTIONS = 64;
const READ_BUFFER_BYTES = 64 * 1024;
const DRAIN_TIMEOUT_MS = 10_000;

export interface Load {
  readonly url: string;
  readonly warmupMs: number;
  readonly measureMs: number;
  readonly connections?: number;
  /** Called once per connection; the returned function is called for each request. */
  requestsFor(connection: number): NextRequest;
}

/**
 * Rejects at the first unexpected response, because a rate that includes errors would be meaningless. Ends early when no
 * requests are left; the rate then refers to the shorter time.
 */
export async function runLoad(load: Load): Promise<Measurement> {
  const latencyMicros = createHistogram({ lowest: 1, highest: 60_000_000, figures: 3 });
  const { hostname: host, port } = new URL(load.url);
  const connections = load.connections ?? CONNECTIONS;
  const sockets: Socket[] = [];
  let stopping = false;
  let open = 0;
  let transitions = 0;

  return new Promise<Measurement>((resolve, reject) => {
    let measuring: { readonly startedAt: number; readonly cpuBefore: NodeJS.CpuUsage } | undefined;
    let result: Measurement | undefined;
    const fail = (error: unknown): void => {
      stopping = true;
      for (const socket of sockets) socket.destroy();
      reject(error instanceof Error ? error : new Error(String(error)));
    };

    const begin = (): void => {
      latencyMicros.reset();
      transitions = 0;
      measuring = { startedAt: performance.now(), cpuBefore: process.cpuUsage() };
      setTimeout(end, load.measureMs);
    };
    const end = (): void => {
      if (stopping) return;
      if (measuring === undefined) {
        fail(new Error('No requests were left before the warm-up ended.'));
        return;
      }
      const seconds = (performance.now() - measuring.startedAt) / 1000;
      const cpu = process.cpuUsage(measuring.cpuBefore);
      result = {
        ratePerSecond: transitions / seconds,
        p50Ms: latencyMicros.percentile(50) / 1000,
        p99Ms: latencyMicros.percentile(99) / 1000,
        generatorCores: (cpu.user + cpu.system) / 1e6 / seconds,
      };
      stopping = true;
      setTimeout(() => {
        if (open > 0) fail(new Error('The server left requests unanswered after the round.'));
      }, DRAIN_TIMEOUT_MS).unref();
    };

    const openConnection = (index: number): void => {
      const next = load.requestsFor(index);
      let sent: Request | undefined;
      let sentAt = 0;
      const send = (): void => {
        if (!stopping) sent = next();
        if (sent === undefined) end();
        if (stopping || sent === undefined) {
          socket.end();
          return;
        }
        sentAt = performance.now();
        socket.write(sent.bytes);
      };
      const reader = new ResponseReader(
        (status) => status !== sent?.expectedStatus || sent.answered !== undefined,
        ({ status, body }) => {
          if (sent === undefined || status !== sent.expectedStatus)
            return fail(new Error(`Expected ${sent?.expectedStatus}, got ${status}: ${body}`));
          latencyMicros.record(Math.max(1, Math.round((performance.now() - sentAt) * 1000)));
          transitions += sent.transitions;
          sent.answered?.(body);
          send();
        },
      );
      const onread = {
        // One reused buffer per connection, so that the generator produces almost no garbage.
        buffer: Buffer.allocUnsafe(READ_BUFFER_BYTES),
        callback: (bytes: number, buffer: Uint8Array): boolean => {
          try {
            reader.read(Buffer.from(buffer.buffer, buffer.byteOffset, bytes));
          } catch (error) {
            fail(error);
          }
          return true;
        },
      };
      const socket = connect({ host, port: Number(port), noDelay: true, onread });
      sockets.push(socket);
      open += 1;
      socket.once('connect', send);
      socket.once('error', fail);
      socket.once('close', () => {
        open -= 1;
        if (!stopping) return fail(new Error('The server closed a connection under load.'));
        if (open === 0 && result !== undefined) resolve(result);
      });
    };

    for (let index = 0; index < connections; index += 1) openConnection(index);
    setTimeout(begin, load.warmupMs);
  });
}

/** Runs a load for `ms` and returns the number of requests sent, for costs per request. */
export async function countLoad(
  url: string,
  ms: number,
  requestsFor: (connection: number) => NextRequest,
): Promise<number> {
  let count = 0;
  await runLoad({
    url,
    warmupMs: 0,
    measureMs: ms,
    requestsFor: (connection) => {
      const next = requestsFor(connection);
      return () => {
        count += 1;
        return next();
      };
    },
  });
  return count;
}
