import { destinationOf } from '../../delivery/destination.ts';
import { formatId, type Id, noApplication } from '../../kernel/ids.ts';
import type { Ports, Prepare } from '../../kernel/prepare.ts';
import type { OpenInbox } from './inbox-commands.ts';
import type { CreateWebhook, NewSecret, RotateSecret, UpdateWebhook, WebhookFields } from './machine.ts';
import { findWebhookFor, findWebhooks } from './store.ts';
import type { WebhookRow } from './table.ts';

export interface RequestedWebhook {
  readonly fields: WebhookFields;
  /** The custom headers in plain text. */
  readonly headers: Readonly<Record<string, string>> | undefined;
  /** The client's own secret. */
  readonly secret: string | undefined;
}

/** Checks the URL, seals the secret and the headers, and counts the existing endpoints. */
export const prepareCreateWebhook: Prepare<RequestedWebhook, CreateWebhook, undefined> = async (
  { requested: { fields: requested, headers, secret }, request, submit },
  ports,
) => {
  const { orgId, appId, suffix } = request.context;
  const id = formatId('webhook', suffix);
  const fields = { ...requested, ...headersFor(ports, orgId, id, headers) };
  const urlProblem = await ports.addressGuard.problemOf(fields.url);
  const sealed = secretFor(ports, orgId, id, secret);
  return ports.mutex.run(mutexKey(appId), async () => {
    const own = await findWebhooks(ports.reader, orgId, appId ?? noApplication);
    const othersAtHost = atSameHost(own, fields.url);
    return submit({ fields, ...sealed, urlProblem, others: own.length, othersAtHost });
  });
};

/** Seals new headers, checks a new URL and counts the endpoints with the same host. */
export const prepareUpdateWebhook: Prepare<
  Pick<UpdateWebhook, 'id' | 'fields'> & Pick<RequestedWebhook, 'headers'>,
  UpdateWebhook,
  undefined
> = async ({ requested: { id, headers, ...requested }, request, submit }, ports) => {
  const { addressGuard, reader, mutex } = ports;
  const fields = { ...requested.fields, ...headersFor(ports, request.context.orgId, id, headers) };
  const { url } = fields;
  if (url === undefined) return submit({ id, fields, urlProblem: null, othersAtHost: 0 });
  const urlProblem = await addressGuard.problemOf(url);
  const row = await findWebhookFor(reader, request.context, id);
  return mutex.run(mutexKey(row?.appId), async () => {
    const own = row && (await findWebhooks(reader, row.orgId, row.appId));
    // An endpoint may keep its host, even above the limit.
    const stays = row !== undefined && atSameHost([row], url) > 0;
    const othersAtHost = stays ? 0 : atSameHost(own ?? [], url);
    return submit({ id, fields, urlProblem, othersAtHost });
  });
};

type RequestedRotation = Pick<RotateSecret, 'id' | 'overlapSeconds'> & Pick<RequestedWebhook, 'secret'>;

/** Seals the new secret. */
export const prepareRotateSecret: Prepare<RequestedRotation, RotateSecret, undefined> = async (
  { requested: { id, secret, overlapSeconds }, request, submit },
  ports,
) => submit({ id, overlapSeconds, ...secretFor(ports, request.context.orgId, id, secret) });

/**
 * Finds the inbox of the application, and prepares the secret of a new one. Two nodes that open the first inbox at the same time may
 * create two; from then on both find the same one, because endpoints have a fixed order.
 */
export const prepareOpenInbox: Prepare<
  Pick<OpenInbox, 'requested' | 'defaults'>,
  OpenInbox,
  undefined
> = async ({ requested: { requested, defaults }, request, submit }, ports) => {
  const { orgId, appId, suffix } = request.context;
  const newId = formatId('webhook', suffix);
  const secret = secretFor(ports, orgId, newId, undefined);
  return ports.mutex.run(mutexKey(appId), async () => {
    const own = await findWebhooks(ports.reader, orgId, appId ?? noApplication);
    const existingId = own.find(({ inbox }) => inbox !== null)?.id ?? null;
    const url = inboxUrl(ports.publicUrl(), existingId ?? newId);
    return submit({ existingId, requested, url, defaults, others: own.length, ...secret });
  });
};

/** Before the server listens, only a program that has the server in its process can send requests. */
function inboxUrl(publicUrl: string, id: Id<'webhook'>): string {
  return `${publicUrl || 'http://localhost'}/inbox/${id}`;
}

/** Without headers in the request, the headers do not change. */
function headersFor(
  { secrets }: Pick<Ports, 'secrets'>,
  orgId: Id<'organization'>,
  webhookId: Id<'webhook'>,
  headers: RequestedWebhook['headers'],
): Pick<UpdateWebhook['fields'], 'headers'> {
  if (headers === undefined) return {};
  const names = Object.keys(headers);
  if (names.length === 0) return { headers: null };
  return { headers: { names, sealed: secrets.sealWebhookHeaders(headers, orgId, webhookId) } };
}

function secretFor(
  { secrets }: Pick<Ports, 'secrets'>,
  orgId: Id<'organization'>,
  webhookId: Id<'webhook'>,
  requestedSecret: string | undefined,
): NewSecret {
  const secret = requestedSecret ?? secrets.newWebhookSecret();
  return { secret, sealed: secrets.sealWebhookSecret(secret, orgId, webhookId) };
}

/** Serializes the creation of endpoints in an application, so that each one counts the previous ones. */
function mutexKey(appId: string | null | undefined): string {
  return `webhooks ${appId ?? ''}`;
}

/** Counts the endpoints with the same host as a URL, without inboxes: 0 for an invalid URL and for loopback addresses. */
function atSameHost(endpoints: readonly Pick<WebhookRow, 'url' | 'inbox'>[], url: string): number {
  if (!URL.canParse(url)) return 0;
  const { key, isLoopback } = destinationOf(url);
  const isThere = (endpoint: Pick<WebhookRow, 'url' | 'inbox'>) =>
    endpoint.inbox === null && destinationOf(endpoint.url).key === key;
  return isLoopback ? 0 : endpoints.filter(isThere).length;
}
