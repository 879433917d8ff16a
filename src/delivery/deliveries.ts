import type { Committed } from '../engine/batch.ts';
import type { Reader } from '../kernel/route.ts';
import type { Instant } from '../kernel/table.ts';
import { findEveryEndpoint, findWebhooks } from '../resources/webhooks/store.ts';
import type { WebhookRow } from '../resources/webhooks/table.ts';
import type { Deliverer } from './deliverer.ts';
import type { DeliveryQueue, EndpointKey } from './queue.ts';
import type { Replayer } from './replayer.ts';

export interface DeliveriesSettings {
  readonly deliverer: Deliverer;
  readonly replayer: Replayer;
  readonly queue: DeliveryQueue;
  readonly reader: Reader;
  readonly wallClock: () => Instant;
  /** The only process on its database: it is told of its own commits, and its start ends all leases from before. */
  readonly isAlone: boolean;
  /** Hears what other nodes and this one have committed. */
  readonly listen: (onWords: (words: string) => void) => Promise<{ close(): Promise<void> }>;
  readonly onError: (error: unknown, what: string) => void;
}

export interface Deliveries {
  /** What this process has just committed. */
  onCommit(committed: Committed): void;
  /** Endpoints that came with a whole organization. */
  learn(endpoints: readonly Pick<WebhookRow, 'orgId' | 'appId' | 'id'>[]): void;
  /** Resolves when it may be told of commits. */
  start(): Promise<void>;
  stop(): Promise<void>;
}

const roundMs = 1_000;

/**
 * Finds out which endpoints may have something due and tells the deliverer: at once when a commit gave them something, and
 * once a second for retries, for ends of leases, and for whatever a signal was lost of.
 */
export function createDeliveries(settings: DeliveriesSettings): Deliveries {
  const { deliverer, replayer, queue, reader, wallClock, isAlone, onError } = settings;
  // All endpoints there are, by application; only the one process of an embedded database can know them.
  const known = new Map<string, Map<string, EndpointKey>>();
  let after: EndpointKey | undefined;
  let isStopped = false;
  let timer: NodeJS.Timeout | undefined;
  let running: Promise<void> = Promise.resolve();
  let replaying: Promise<void> | undefined;
  let listener: { close(): Promise<void> } | undefined;

  function know({ orgId, appId, id }: Pick<WebhookRow, 'orgId' | 'appId' | 'id'>): void {
    const endpoints = known.get(appId) ?? new Map<string, EndpointKey>();
    endpoints.set(id, { orgId, webhookId: id });
    known.set(appId, endpoints);
  }

  function wakeKnown(appId: string | undefined): void {
    for (const endpoint of known.get(appId ?? '')?.values() ?? []) deliverer.wake(endpoint);
  }

  /** The words of an announcement: an organization, and in it an endpoint, changed or not, or an application with all of its own. */
  function hear(words: string): void {
    const [orgId, id, isChanged] = words.split(' ');
    if (orgId === undefined || id === undefined) {
      // Something may have been missed, also that an endpoint was changed or disabled.
      deliverer.refreshAll();
      soon(0);
    } else if (isChanged) deliverer.refresh({ orgId, webhookId: id });
    else if (id.startsWith('whk_')) deliverer.wake({ orgId, webhookId: id });
    else
      wakeApplication(orgId, id).catch((error: unknown) =>
        onError(error, 'the endpoints of an application were not found'),
      );
  }

  async function wakeApplication(orgId: string, appId: string): Promise<void> {
    for (const { id } of await findWebhooks(reader, orgId, appId)) deliverer.wake({ orgId, webhookId: id });
  }

  async function round(): Promise<void> {
    const { due, next } = await queue.findDue(wallClock(), after);
    for (const { orgId, webhookId } of due) deliverer.wake({ orgId, webhookId });
    after = next;
    // A large replay takes its time, and retries do not wait for it.
    replaying ??= replayer
      .goOn()
      .catch((error: unknown) => onError(error, 'a replay was not carried on'))
      .finally(() => {
        replaying = undefined;
      });
  }

  function soon(ms: number): void {
    if (isStopped) return;
    clearTimeout(timer);
    timer = setTimeout(() => {
      running = round()
        .catch((error: unknown) => onError(error, 'a round of deliveries failed'))
        .then(() => soon(roundMs));
    }, ms);
    timer.unref();
  }

  return {
    onCommit: ({ changes, events, deliveries, cleared }) => {
      // At once, also where announcements come: one of them may be slower than the next request that is sent.
      if (cleared !== null) deliverer.refreshAll(cleared);
      if (!isAlone || isStopped) return;
      for (const { resource, row } of changes) {
        if (resource === 'clock') wakeKnown(row.appId);
        if (resource !== 'webhook') continue;
        know(row as WebhookRow);
        deliverer.refresh({ orgId: row.orgId, webhookId: row.id });
      }
      for (const { appId } of events) wakeKnown(appId);
      for (const { orgId, webhookId } of deliveries) deliverer.wake({ orgId, webhookId });
    },
    learn: (endpoints) => {
      if (!isAlone || isStopped) return;
      for (const endpoint of endpoints) {
        know(endpoint);
        deliverer.wake({ orgId: endpoint.orgId, webhookId: endpoint.id });
      }
    },
    start: async () => {
      if (isAlone) {
        await queue.releaseAll();
        for (const endpoint of await findEveryEndpoint(reader)) know(endpoint);
      } else {
        listener = await settings.listen(hear);
      }
      soon(0);
    },
    stop: async () => {
      isStopped = true;
      clearTimeout(timer);
      await listener?.close();
      await running;
      await replaying;
    },
  };
}
