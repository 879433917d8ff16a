/** The webhook receivers of a soak. They check each request when it arrives, and remember a few bytes of it. */
import { createHash, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { chanceOf } from '../process/support/webhook-receiver.ts';
import { signaturesOf } from '../support/verify-signature.ts';
import type { WallClock } from './wall-clock.ts';

interface Answer {
  readonly status: number;
  readonly afterMs: number;
}

/** How an endpoint answers the nth arrival of an event; undefined: never. */
type Policy = (id: string, nth: number) => Answer | undefined;

const slowMs = { min: 200, spread: 1_300 };

const policies: Readonly<Record<string, Policy>> = {
  fast: () => ({ status: 204, afterMs: 0 }),
  /** A quarter of the events fails twice. */
  flaky: (id, nth) => ({ status: nth <= 2 && chanceOf(id) < 0.25 ? 503 : 204, afterMs: 0 }),
  slow: (id) => ({ status: 204, afterMs: slowMs.min + chanceOf(id) * slowMs.spread }),
  /** Half of the events always fail. */
  failing: (id) => ({ status: chanceOf(id) < 0.5 ? 500 : 204, afterMs: 0 }),
  silent: () => undefined,
  /** For endpoints that are created and deleted during the run. */
  temporary: () => ({ status: 204, afterMs: 20 }),
};

/** Endpoints whose events must all arrive. */
export const audited = ['fast', 'flaky', 'slow'] as const;

export interface Arrivals {
  count: number;
  accepted: number;
  /** Of the record in the body. */
  readonly digest: string;
}

const problemsMax = 50;

export class Receivers {
  readonly secrets: ReadonlyMap<string, string> = new Map(
    Object.keys(policies).map((name) => [name, `whsec_${randomBytes(32).toString('base64')}`]),
  );
  readonly problems: string[] = [];
  /** By event id, of each audited endpoint. */
  readonly arrivals: ReadonlyMap<string, Map<string, Arrivals>> = new Map(
    audited.map((name) => [name, new Map()]),
  );
  total = 0;
  readonly #clock: WallClock;
  readonly #server = createServer((request, response) => void this.#receive(request, response));

  private constructor(clock: WallClock) {
    this.#clock = clock;
  }

  static async open(clock: WallClock): Promise<Receivers> {
    const receivers = new Receivers(clock);
    receivers.#server.listen(0, '127.0.0.1');
    await once(receivers.#server, 'listening');
    return receivers;
  }

  urlOf(name: string): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}/${name}`;
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections();
    this.#server.close();
    await once(this.#server, 'close');
  }

  async #receive(request: IncomingMessage, response: ServerResponse): Promise<void> {
    response.on('error', () => undefined);
    const chunks: Buffer[] = [];
    try {
      for await (const chunk of request) chunks.push(chunk as Buffer);
    } catch {
      // The sender was killed.
      return;
    }
    this.total += 1;
    const name = (request.url ?? '').slice(1);
    const id = String(request.headers['webhook-id']);
    const seen = this.#record(name, id, request, Buffer.concat(chunks).toString('utf8'));
    const answer = policies[name]?.(id, seen?.count ?? 1);
    if (!answer) return;
    const reply = () => {
      if (response.destroyed) return;
      if (seen && answer.status < 300) seen.accepted += 1;
      response.writeHead(answer.status).end();
    };
    if (answer.afterMs === 0) reply();
    else setTimeout(reply, answer.afterMs);
  }

  /** Undefined for an endpoint that is not audited. */
  #record(name: string, id: string, { headers }: IncomingMessage, body: string): Arrivals | undefined {
    const secret = this.secrets.get(name);
    const arrivals = this.arrivals.get(name);
    if (!arrivals || secret === undefined) return undefined;
    // By the clock of the signature: the server may have jumped after signing.
    if (!this.#clock.times.some((time) => signaturesOf({ headers, body }, secret, time).length === 1))
      this.#report(`${id} at ${name} has no valid signature`);
    const start = body.indexOf(',"data":');
    const digest = createHash('md5')
      .update(body.slice(start + ',"data":'.length, -1))
      .digest('hex');
    if (!body.includes(`"id":"${id}"`)) this.#report(`${id} at ${name} carries the event of another id`);
    const seen = arrivals.get(id) ?? { count: 0, accepted: 0, digest };
    if (seen.digest !== digest) this.#report(`${id} arrived at ${name} with different bodies`);
    arrivals.set(id, seen);
    seen.count += 1;
    return seen;
  }

  #report(problem: string): void {
    if (this.problems.length < problemsMax) this.problems.push(problem);
  }
}
