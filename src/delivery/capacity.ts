import type { Id } from '../kernel/ids.ts';
import { limits } from '../kernel/limits.ts';
import { type Destination, destinationOf } from './destination.ts';
import type { ClaimedDelivery } from './queue.ts';

const mebibyte = 1024 * 1024;
const sendingMax = 2_000;
/** Per organization, so that its endpoints cannot use up all requests of the process. */
const sendingPerOrganizationMax = 500;
/** Claimed deliveries of one organization that wait to be sent: with more, leases would expire in the queue. */
const waitingPerOrganizationMax = 500;
/** Event data of claimed deliveries in memory, from the claim until the last attempt is recorded. Each event counts once. */
const claimedBytesMax = 32 * mebibyte;
const claimedBytesPerOrganizationMax = 4 * mebibyte;
/** Event data that one claim returns: larger statements would delay the requests that use the same database. */
const claimBytesMax = 2 * mebibyte;
/** When all organizations together hold the maximum, one that holds little still makes progress. */
const claimBytesMin = mebibyte / 4;
/** Event data in open requests. Each request has its own payload. */
const sendingBytesMax = 32 * mebibyte;
const sendingBytesPerOrganizationMax = 8 * mebibyte;

type OutgoingRequest = Pick<ClaimedDelivery, 'orgId' | 'url' | 'isInbox' | 'data'>;

interface HeldEvent {
  readonly data: string;
  claims: number;
}

/**
 * Limits what a process holds and sends at once: requests in total, per organization and per destination host, and bytes of event
 * data. A destination host may be a third party that never agreed to receive anything, so it has separate limits. For loopback
 * receivers and inboxes only the total of the organization applies.
 */
export class DeliveryCapacity {
  readonly #byOrganization = new Counter();
  readonly #byHost = new Counter();
  readonly #byOrganizationAndHost = new Counter();
  readonly #sendingBytesBy = new Counter();
  readonly #claimedBytesBy = new Counter();
  readonly #claimsBy = new Counter();
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

  /** Bytes of event data that the next claim may return. */
  get claimBytes(): number {
    return Math.max(claimBytesMin, Math.min(claimBytesMax, claimedBytesMax - this.#claimedBytes));
  }

  /** Whether an organization may claim more. Claims of one organization do not block those of another. */
  canClaim(orgId: Id<'organization'>): boolean {
    const waiting = this.#claimsBy.of(orgId) - this.#byOrganization.of(orgId);
    return (
      waiting < waitingPerOrganizationMax && this.#claimedBytesBy.of(orgId) < claimedBytesPerOrganizationMax
    );
  }

  /** Counts a claim. Claims of the same event share one string, even when they come from different statements. */
  hold(claimed: ClaimedDelivery): ClaimedDelivery {
    const key = eventKeyOf(claimed);
    const event = this.#events.get(key) ?? { data: claimed.data, claims: 0 };
    if (event.claims === 0) {
      this.#events.set(key, event);
      this.#claimedBytes += event.data.length;
      this.#claimedBytesBy.add(claimed.orgId, event.data.length);
    }
    event.claims += 1;
    this.#claimsBy.add(claimed.orgId, 1);
    const claim = event.data === claimed.data ? claimed : { ...claimed, data: event.data };
    this.#claims.add(claim);
    return claim;
  }

  /** Ignores a claim that is not held, such as the one of a test event. */
  release(claim: ClaimedDelivery): void {
    if (!this.#claims.delete(claim)) return;
    this.#claimsBy.add(claim.orgId, -1);
    const key = eventKeyOf(claim);
    const event = this.#events.get(key);
    if (!event) return;
    event.claims -= 1;
    if (event.claims > 0) return;
    this.#events.delete(key);
    this.#claimedBytes -= event.data.length;
    this.#claimedBytesBy.add(claim.orgId, -event.data.length);
  }

  canSend(request: OutgoingRequest): boolean {
    const { orgId, data } = request;
    if (this.isFull || this.#byOrganization.of(orgId) >= sendingPerOrganizationMax) return false;
    const organizationBytes = this.#sendingBytesBy.of(orgId);
    // A single request may exceed the limit.
    if (organizationBytes > 0 && organizationBytes + data.length > sendingBytesPerOrganizationMax)
      return false;
    if (organizationBytes > 0 && this.#sendingBytes + data.length > sendingBytesMax) return false;
    const { key, isLoopback } = destinationOfRequest(request);
    return (
      isLoopback ||
      (this.#byHost.of(key) < limits.webhookHostConcurrencyMax &&
        this.#byOrganizationAndHost.of(`${orgId} ${key}`) < limits.webhookHostConcurrencyPerOrganizationMax)
    );
  }

  begin(claim: OutgoingRequest): void {
    this.#count(claim, 1);
  }

  end(claim: OutgoingRequest): void {
    this.#count(claim, -1);
  }

  #count(request: OutgoingRequest, by: 1 | -1): void {
    const { orgId, data } = request;
    const { key } = destinationOfRequest(request);
    this.#sending += by;
    this.#sendingBytes += by * data.length;
    this.#sendingBytesBy.add(orgId, by * data.length);
    this.#byOrganization.add(orgId, by);
    this.#byHost.add(key, by);
    this.#byOrganizationAndHost.add(`${orgId} ${key}`, by);
  }
}

/** Inboxes are at this server itself, so no third party needs protection. */
const inboxes: Destination = { key: 'inbox', isLoopback: true };

function destinationOfRequest({ url, isInbox }: Pick<OutgoingRequest, 'url' | 'isInbox'>): Destination {
  return isInbox ? inboxes : destinationOf(url);
}

function eventKeyOf({ orgId, eventId }: Pick<ClaimedDelivery, 'orgId' | 'eventId'>): string {
  return `${orgId} ${eventId}`;
}

/** Counts by key; a key with count zero uses no memory. */
class Counter {
  readonly #counts = new Map<string, number>();

  of(key: string): number {
    return this.#counts.get(key) ?? 0;
  }

  add(key: string, by: number): void {
    const count = this.of(key) + by;
    if (count > 0) this.#counts.set(key, count);
    else this.#counts.delete(key);
  }
}
