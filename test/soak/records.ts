/** The latest records that clients know, and the writes that the server has acknowledged. Both stay small in a run of hours. */
import { type Clients, isOpen, type Kind, type KnownRecord, type Random } from '../process/chaos/requests.ts';
import type { App, Body } from '../process/chaos/servers.ts';

const recentMax = 400;
const finalShare = 12;

/** Remembers a few hundred records of each kind and organization. */
export class RecentRecords implements Clients {
  readonly apps: readonly App[];
  readonly #known = new Map<Kind, Map<string, KnownRecord>>();
  readonly #now: () => number;

  constructor(apps: readonly App[], now: () => number) {
    this.apps = apps;
    this.#now = now;
  }

  pick(kind: Kind, random: Random): KnownRecord | undefined {
    const all = [...(this.#known.get(kind)?.values() ?? [])];
    const open = all.filter(({ lastSeen }) => isOpen[kind](lastSeen));
    const among = open.length > 0 && !random.oneIn(finalShare) ? open : all;
    return among.length === 0 ? undefined : random.pick(among);
  }

  appFor({ organization }: KnownRecord, random: Random): App {
    return random.pick(this.apps.filter((app) => app.organization === organization));
  }

  now(): number {
    return this.#now();
  }

  see({ organization }: App, body: Body): void {
    const kind = body.object as Kind;
    if (!['payment', 'refund', 'dispute', 'transfer'].includes(kind)) return;
    this.#update(kind, body.id, organization, body);
    if (kind === 'payment' && body.disputeId) this.#update('dispute', body.disputeId, organization, {});
  }

  clear(): void {
    this.#known.clear();
  }

  #update(kind: Kind, id: string, organization: string, seen: Body): void {
    const records = this.#known.get(kind) ?? new Map<string, KnownRecord>();
    this.#known.set(kind, records);
    const known = records.get(id);
    if (known) {
      if ((seen.version ?? 0) > (known.lastSeen.version ?? 0)) known.lastSeen = seen;
      return;
    }
    records.set(id, { kind, id, organization, lastSeen: seen });
    const [oldest] = records.keys();
    if (records.size > recentMax && oldest !== undefined) records.delete(oldest);
  }
}

const replayableMax = 300;

/** A write with its response, to be sent again. */
export interface Replayable {
  readonly app: App;
  readonly path: string;
  readonly body: unknown;
  readonly key: string;
  readonly status: number;
  readonly text: string;
  /** By the wall clock of the servers. */
  readonly at: number;
}

/** Every acknowledged write, as a line: `REQUEST RECORD VERSION STATUS`. A write of a clock has only the request. */
export class Acknowledged {
  readonly lines: string[] = [];
  /** The latest writes. */
  readonly replayable: Replayable[] = [];
  payments = 0;

  add(body: Body, replayable: Replayable): void {
    const { object, requestId, id, version, status } = body;
    this.lines.push(object === 'clock' ? requestId : `${requestId} ${id} ${version} ${status}`);
    this.replayable.push(replayable);
    if (this.replayable.length > replayableMax) this.replayable.shift();
  }
}
