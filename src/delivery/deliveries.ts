import type { Committed } from '../engine/batch-trail.ts';
import { type Id, idFrom, isId } from '../kernel/ids.ts';
import type { Instant, Reader } from '../kernel/table.ts';
import { findEveryEndpoint, findWebhooks } from '../resources/webhooks/store.ts';
import type { WebhookRow } from '../resources/webhooks/table.ts';
import type { Deliverer } from './deliverer.ts';
import type { DeliveryQueue, EndpointKey } from './queue.ts';

export interface DeliveriesSettings {
  readonly deliverer: Deliverer;
  /** Continues unfinished replays. */
  readonly replayer: { continueRunning(): Promise<void> };
  readonly queue: DeliveryQueue;
  readonly reader: Reader;
  readonly wallClock: () => Instant;
  /** The only process on its database: it reacts to its own commits, and expires all earlier leases when it starts. */
  readonly isAlone: boolean;
  /** Subscribes to commit notifications of all nodes, including this one. */
  readonly listen: (onNotification: (payload: string) => void) => Promise<{ close(): Promise<void> }>;
  readonly onError: (error: unknown, what: string) => void;
}

export interface Deliveries {
  /** Handles a commit of this process. */
  onCommit(committed: Committed): void;
  /** Handles an import, which is not a commit of the engine. */
  onImport(orgId: string, endpoints: readonly Pick<WebhookRow, 'orgId' | 'appId' | 'id'>[]): void;
  /** Resolves when `onCommit` may be called. */
  start(): Promise<void>;
  stop(): Promise<void>;
}

const pollIntervalMs = 1_000;

export function createDeliveries(settings: DeliveriesSettings): Deliveries {
  return new EndpointWaker(settings);
}

/**
 * Wakes endpoints that may have something due: immediately after a commit that concerns them, and by polling once a second for
 * retries, expired leases and lost notifications.
 */
class EndpointWaker implements Deliveries {
  readonly #settings: DeliveriesSettings;
  /** All endpoints by application. Only the single process of an embedded database can cache them. */
  readonly #endpointsByApp = new Map<string, Map<string, EndpointKey>>();
  #pollCursor: EndpointKey | undefined;
  #isStopped = false;
  #timer: NodeJS.Timeout | undefined;
  #running: Promise<void> = Promise.resolve();
  #replaying: Promise<void> | undefined;
  #listener: { close(): Promise<void> } | undefined;

  constructor(settings: DeliveriesSettings) {
    this.#settings = settings;
  }

  onCommit({ changes, events, deliveries, cleared }: Committed): void {
    const { deliverer, isAlone } = this.#settings;
    // Immediately, even where notifications arrive: a notification may come after the next request is sent.
    if (cleared !== null) deliverer.refreshAll(cleared);
    if (!isAlone || this.#isStopped) return;
    for (const { resource, row } of changes) {
      if (resource === 'clock') this.#wakeEndpointsOf(row.appId);
      if (resource !== 'webhook') continue;
      const webhook = row as WebhookRow;
      if (webhook.status === 'deleted') this.#endpointsByApp.get(webhook.appId)?.delete(webhook.id);
      else this.#addEndpoint(webhook);
      deliverer.refresh({ orgId: webhook.orgId, webhookId: webhook.id });
    }
    for (const { appId } of events) this.#wakeEndpointsOf(appId);
    for (const { orgId, webhookId } of deliveries) deliverer.wake({ orgId, webhookId });
  }

  onImport(orgId: string, endpoints: readonly Pick<WebhookRow, 'orgId' | 'appId' | 'id'>[]): void {
    const { deliverer, isAlone } = this.#settings;
    // The import may have replaced the organization, whose claims have the old settings.
    deliverer.refreshAll(orgId);
    if (!isAlone || this.#isStopped) return;
    for (const endpoint of endpoints) {
      this.#addEndpoint(endpoint);
      deliverer.wake({ orgId: endpoint.orgId, webhookId: endpoint.id });
    }
  }

  async start(): Promise<void> {
    const { queue, reader, isAlone, listen } = this.#settings;
    if (isAlone) {
      await queue.releaseAll();
      for (const endpoint of await findEveryEndpoint(reader)) this.#addEndpoint(endpoint);
    } else {
      this.#listener = await listen((payload) => this.#onNotification(payload));
    }
    this.#schedulePoll(0);
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    clearTimeout(this.#timer);
    await this.#listener?.close();
    await this.#running;
    await this.#replaying;
  }

  #addEndpoint({ orgId, appId, id }: Pick<WebhookRow, 'orgId' | 'appId' | 'id'>): void {
    const endpoints = this.#endpointsByApp.get(appId) ?? new Map<string, EndpointKey>();
    endpoints.set(id, { orgId, webhookId: id });
    this.#endpointsByApp.set(appId, endpoints);
  }

  #wakeEndpointsOf(appId: string | undefined): void {
    for (const endpoint of this.#endpointsByApp.get(appId ?? '')?.values() ?? [])
      this.#settings.deliverer.wake(endpoint);
  }

  /** The payload names an organization and either an endpoint, optionally `changed`, or an application with all its endpoints. */
  #onNotification(payload: string): void {
    const { deliverer, onError } = this.#settings;
    const [organization, id, isChanged] = payload.split(' ');
    const orgId = idFrom('organization', organization);
    if (organization === undefined || id === undefined) {
      // Notifications may have been lost, including that an endpoint was changed or disabled.
      deliverer.refreshAll();
      this.#schedulePoll(0);
    } else if (isChanged) deliverer.refresh({ orgId, webhookId: idFrom('webhook', id) });
    else if (isId('webhook', id)) deliverer.wake({ orgId, webhookId: id });
    else
      this.#wakeApplication(orgId, idFrom('application', id)).catch((error: unknown) =>
        onError(error, 'failed to query the endpoints of an application'),
      );
  }

  async #wakeApplication(orgId: Id<'organization'>, appId: Id<'application'>): Promise<void> {
    const { deliverer, reader } = this.#settings;
    for (const { id } of await findWebhooks(reader, orgId, appId)) deliverer.wake({ orgId, webhookId: id });
  }

  #schedulePoll(ms: number): void {
    if (this.#isStopped) return;
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => {
      this.#running = this.#poll()
        .catch((error: unknown) => this.#settings.onError(error, 'failed to poll for due deliveries'))
        .then(() => this.#schedulePoll(pollIntervalMs));
    }, ms);
    this.#timer.unref();
  }

  async #poll(): Promise<void> {
    const { deliverer, replayer, queue, wallClock, onError } = this.#settings;
    const { due, next } = await queue.findDue(wallClock(), this.#pollCursor);
    for (const { orgId, webhookId } of due) deliverer.wake({ orgId, webhookId });
    this.#pollCursor = next;
    // A large replay takes long. Retries do not wait for it.
    this.#replaying ??= replayer
      .continueRunning()
      .catch((error: unknown) => onError(error, 'failed to continue a replay'))
      .finally(() => {
        this.#replaying = undefined;
      });
  }
}
