import { destinationOf } from '../../delivery/destination.ts';
import { formatId, type Id, noApplication } from '../../kernel/ids.ts';
import type { Ports, Prepare } from '../../kernel/prepare.ts';
import type { CreateWebhook, NewSecret, RotateSecret, UpdateWebhook, WebhookFields } from './machine.ts';
import { findWebhookFor, findWebhooks } from './store.ts';
import type { WebhookRow } from './table.ts';

export interface RequestedWebhook {
  readonly fields: WebhookFields;
  /** The client's own secret. */
  readonly secret: string | undefined;
}

/** Checks the URL, seals the secret and counts the existing endpoints. */
export const prepareCreateWebhook: Prepare<RequestedWebhook, CreateWebhook, undefined> = async (
  { requested: { fields, secret }, request, submit },
  ports,
) => {
  const { orgId, appId, suffix } = request.context;
  const urlProblem = await ports.addressGuard.problemOf(fields.url);
  const sealed = secretFor(ports, orgId, formatId('webhook', suffix), secret);
  return ports.mutex.run(mutexKey(appId), async () => {
    const own = await findWebhooks(ports.reader, orgId, appId ?? noApplication);
    const othersAtHost = atSameHost(own, fields.url);
    return submit({ fields, ...sealed, urlProblem, others: own.length, othersAtHost });
  });
};

/** Checks a new URL and counts the endpoints with the same host. */
export const prepareUpdateWebhook: Prepare<
  Pick<UpdateWebhook, 'id' | 'fields'>,
  UpdateWebhook,
  undefined
> = async ({ requested: { id, fields }, request, submit }, { addressGuard, reader, mutex }) => {
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

/** Counts the endpoints with the same host as a URL: 0 for an invalid URL and for loopback addresses. */
function atSameHost(endpoints: readonly Pick<WebhookRow, 'url'>[], url: string): number {
  if (!URL.canParse(url)) return 0;
  const { key, isLoopback } = destinationOf(url);
  return isLoopback ? 0 : endpoints.filter((endpoint) => destinationOf(endpoint.url).key === key).length;
}
