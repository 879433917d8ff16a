import type { ClaimedDelivery } from '../engine/delivery-queue.ts';
import { destinationOf } from '../kernel/destination.ts';
import { limits } from '../kernel/limits.ts';

const sendingMax = 2_000;
/** Of one organization, so that its endpoints cannot use all requests of the process. */
const sendingPerOrganizationMax = 500;
/** Event data of claimed deliveries in memory, each event once, from the claim until the last attempt is recorded. */
const claimedBytesMax = 16 * 1024 * 1024;
/** Event data that one claim returns: larger statements would delay the requests that use the same database. */
const claimBytesMax = 2 * 1024 * 1024;
/** Event data in open requests. Each request has a payload of its own. */
const sendingBytesMax = 16 * 1024 * 1024;

type Sent = Pick<ClaimedDelivery, 'orgId' | 'url' | 'data'>;

interface HeldEvent {
  readonly data: string;
  claims: number;
}

/**
 * Limits what a process holds and sends at once: requests in total, per organization and per destination host, and bytes of event
 * data. A destination host may be a third party that never agreed to receive anything, so it has limits of its own. Loopback
 * receivers are next door and are limited by the organization's total only.
 */
export class DeliveryCapacity {
  readonly #byOrganization = new Counter();
  readonly #byHost = new Counter();
  readonly #byOrganizationAndHost = new Counter();
  readonly #claims = new Set<ClaimedDelivery>();
  readonly #events = new Map<string, HeldEvent>();
  #claimedBytes = 0;
  #sending = 0;
  #sendingBytes = 0;

  get sending(): number {
    return this.#sending;
  }

  get isFull(): boolean {
    return this.#sending >= sendingMax;
  }

  /** Bytes of event data that the next claim may return; zero or less when none may be made now. */
  get claimBytes(): number {
    return Math.min(claimBytesMax, claimedBytesMax - this.#claimedBytes);
  }

  /** Counts a claim. Claims of one event share one string, also when they come from different statements. */
  hold(claimed: ClaimedDelivery): ClaimedDelivery {
    const key = eventKeyOf(claimed);
    const event = this.#events.get(key) ?? { data: claimed.data, claims: 0 };
    if (event.claims === 0) {
      this.#events.set(key, event);
      this.#claimedBytes += event.data.length;
    }
    event.claims += 1;
    const claim = { ...claimed, data: event.data };
    this.#claims.add(claim);
    return claim;
  }

  /** Nothing happens for a claim that is not held, such as that of a test. */
  release(claim: ClaimedDelivery): void {
    if (!this.#claims.delete(claim)) return;
    const key = eventKeyOf(claim);
    const event = this.#events.get(key);
    if (!event) return;
    event.claims -= 1;
    if (event.claims > 0) return;
    this.#events.delete(key);
    this.#claimedBytes -= event.data.length;
  }

  canSend({ orgId, url, data }: Sent): boolean {
    if (this.isFull || this.#byOrganization.of(orgId) >= sendingPerOrganizationMax) return false;
    if (this.#sending > 0 && this.#sendingBytes + data.length > sendingBytesMax) return false;
    const { key, isLoopback } = destinationOf(url);
    return (
      isLoopback ||
      (this.#byHost.of(key) < limits.webhookHostConcurrencyMax &&
        this.#byOrganizationAndHost.of(`${orgId} ${key}`) < limits.webhookHostConcurrencyPerOrganizationMax)
    );
  }

  begin(claim: Sent): void {
    this.#count(claim, 1);
  }

  end(claim: Sent): void {
    this.#count(claim, -1);
  }

  #count({ orgId, url, data }: Sent, by: 1 | -1): void {
    const { key } = destinationOf(url);
    this.#sending += by;
    this.#sendingBytes += by * data.length;
    this.#byOrganization.add(orgId, by);
    this.#byHost.add(key, by);
    this.#byOrganizationAndHost.add(`${orgId} ${key}`, by);
  }
}

function eventKeyOf({ orgId, eventId }: Pick<ClaimedDelivery, 'orgId' | 'eventId'>): string {
  return `${orgId} ${eventId}`;
}

/** Counts by key; a key whose count is zero takes no memory. */
class Counter {
  readonly #counts = new Map<string, number>();

  of(key: string): number {
    return this.#counts.get(key) ?? 0;
  }

  add(key: string, by: 1 | -1): void {
    const count = this.of(key) + by;
    if (count > 0) this.#counts.set(key, count);
    else this.#counts.delete(key);
  }
}
