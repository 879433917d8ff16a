import {
  type Accepted,
  accepted,
  type CommandContext,
  type CommandKind,
  change,
  type LoadedRows,
  type PreparedCommand,
  reachesApplication,
} from '../../kernel/command.ts';
import type { Presented } from '../../kernel/envelope.ts';
import { type Refusal, refuse } from '../../kernel/errors.ts';
import { formatId, type Id } from '../../kernel/ids.ts';
import { limits } from '../../kernel/limits.ts';
import { instantToText, shownInstant } from '../../kernel/list.ts';
import { type ActionOf, allowedActions, defineMachine, refuseMove } from '../../kernel/machine.ts';
import type { Instant } from '../../kernel/table.ts';
import { dayMs } from '../../kernel/time.ts';
import { refuseHeaders } from './header-commands.ts';
import { type StoredSecret, type WebhookRow, webhookStates } from './table.ts';

/** The states before the deletion. */
const activeStates = ['enabled', 'disabled'] as const;

export const webhookMachine = defineMachine<WebhookRow>()({
  resource: 'webhook',
  states: webhookStates,
  setbacks: ['deleted'],
  moves: [
    { action: 'create', from: [], to: ['enabled'], event: 'created', emitsNoEvent: true },
    {
      action: 'update',
      from: activeStates,
      to: activeStates,
      stays: true,
      event: 'updated',
      emitsNoEvent: true,
    },
    {
      action: 'rotate_secret',
      from: activeStates,
      to: activeStates,
      stays: true,
      event: 'secret_rotated',
      emitsNoEvent: true,
    },
    { action: 'disable', from: ['enabled'], to: ['disabled'] },
    { action: 'enable', from: ['disabled'], to: ['enabled'], emitsNoEvent: true },
    {
      action: 'test',
      from: activeStates,
      to: activeStates,
      stays: true,
      event: 'tested',
      isTraceless: true,
    },
    { action: 'delete', from: activeStates, to: ['deleted'] },
  ],
  eventDescriptions: {
    disabled:
      'An endpoint was disabled: by request, because its receiver answered 410, or because it had failed for days.',
    tested: 'An endpoint is tested; only this endpoint receives the event.',
    deleted: 'An endpoint was deleted.',
  },
});

type WebhookAction = ActionOf<typeof webhookMachine>;

/** The form of an endpoint in responses and events. Never includes its secret. */
export function presentWebhook(row: WebhookRow): Presented {
  const [current, previous] = row.secrets;
  return {
    object: 'webhook',
    sandbox: true,
    status: row.status,
    id: row.id,
    applicationId: row.appId,
    url: row.url,
    description: row.description,
    eventTypes: row.eventTypes,
    retryProfile: row.retryProfile,
    maxConcurrency: row.concurrencyMax,
    secretHint: current?.hint ?? '',
    previousSecretExpiresAt: shownInstant(previous?.expiresAt ?? null),
    headerNames: row.headers?.names ?? [],
    disabledReason: row.disabledReason,
    inbox: row.inbox,
    allowedActions: allowedActions(webhookMachine, row),
    version: row.version,
    createdAt: instantToText(row.createdAt),
    updatedAt: instantToText(row.updatedAt),
  };
}

export type WebhookFields = Pick<
  WebhookRow,
  'url' | 'description' | 'eventTypes' | 'retryProfile' | 'concurrencyMax'
>;

/** Fields that most endpoints do not have. */
type SpecialFields = Partial<Pick<WebhookRow, 'inbox' | 'headers'>>;

/** 24 to 64 bytes in base64, with its padding. */
export const webhookSecretPattern =
  '^whsec_(?:(?:[A-Za-z0-9+/]{4}){8,20}(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?|(?:[A-Za-z0-9+/]{4}){21}(?:[A-Za-z0-9+/]{2}==)?)$';

/** A new secret, generated or from the client: in plain text for the response, and sealed for the database. */
export interface NewSecret {
  readonly secret: string;
  readonly sealed: string;
}

export interface CreateWebhook extends NewSecret {
  readonly fields: WebhookFields & Pick<SpecialFields, 'headers'>;
  /** The reason why the address guard rejects the URL; null if it does not. */
  readonly urlProblem: string | null;
  /** The number of endpoints that the application already has. */
  readonly others: number;
  /** How many of them have the same host. */
  readonly othersAtHost: number;
}

/** Refused if the address guard rejects the URL, or if there are too many endpoints. */
export const createWebhook: PreparedCommand<CreateWebhook> = {
  name: 'webhooks.create',
  success: 'created',
  needsPrepare: true,
  answersWithSecret: true,
  reads: () => [],
  decide: ({ fields, urlProblem, others, othersAtHost, ...newSecret }, context) => {
    const headerRefusal = refuseHeaders(fields.headers?.names ?? []);
    if (headerRefusal) return headerRefusal;
    if (urlProblem !== null) return refuseUrl(urlProblem);
    if (others >= limits.webhooksPerApplicationMax) return refuse('webhook_limit_reached');
    if (othersAtHost >= limits.webhooksPerHostMax) return refuseHost();
    // From here it must succeed.
    const row = newWebhook(fields, newSecret, context);
    return withSecret(accepted([change(webhookMachine, 'create', null, row)], 'webhook', row), newSecret);
  },
};

export function newWebhook(
  fields: WebhookFields & SpecialFields,
  newSecret: NewSecret,
  context: CommandContext,
): WebhookRow {
  const { orgId, appId, now, suffix } = context;
  if (appId === null) throw new Error('a webhook belongs to an application');
  return {
    orgId,
    id: formatId('webhook', suffix),
    appId,
    status: 'enabled',
    version: 1,
    inbox: null,
    headers: null,
    ...fields,
    secrets: [storedSecret(newSecret)],
    disabledReason: null,
    since: now,
    createdAt: now,
    updatedAt: now,
  };
}

export interface UpdateWebhook {
  readonly id: Id<'webhook'>;
  readonly fields: Partial<WebhookFields> & SpecialFields;
  readonly urlProblem: string | null;
  /** How many other endpoints of the application have the host of a new URL. */
  readonly othersAtHost: number;
}

export const updateWebhook: PreparedCommand<UpdateWebhook> = {
  name: 'webhooks.update',
  success: 'ok',
  needsPrepare: true,
  reads: readsWebhook,
  decide: ({ id, fields, urlProblem, othersAtHost }, context, rows) => {
    const found = findFor('update', id, context, rows);
    if (!found.ok) return found;
    const { row } = found;
    const headerRefusal = refuseHeaders(fields.headers?.names ?? []);
    if (headerRefusal) return headerRefusal;
    if (fields.inbox !== undefined && row.inbox === null)
      return refuse('webhook_not_inbox', { param: '/inbox' });
    if (fields.url !== undefined && row.inbox !== null)
      return refuseUrl('The URL of an inbox cannot be changed. Create an endpoint with your URL.');
    if (urlProblem !== null) return refuseUrl(urlProblem);
    if (othersAtHost >= limits.webhooksPerHostMax) return refuseHost();
    return moveWebhook('update', row, { ...row, ...headersAt(row, fields.url), ...fields }, context);
  },
};

/** Custom headers may be credentials, which must not go to another server because an endpoint has a new URL. */
function headersAt(row: WebhookRow, url = row.url): Pick<WebhookRow, 'headers'> {
  return { headers: new URL(url).origin === new URL(row.url).origin ? row.headers : null };
}

export interface RotateSecret extends NewSecret {
  readonly id: Id<'webhook'>;
  readonly overlapSeconds: number;
}

/** The new secret signs immediately. The old one also signs until it expires, so that receivers have time to switch. */
export const rotateSecret: PreparedCommand<RotateSecret> = {
  name: 'webhooks.rotate_secret',
  success: 'ok',
  needsPrepare: true,
  answersWithSecret: true,
  reads: readsWebhook,
  decide: ({ id, overlapSeconds, ...newSecret }, context, rows) => {
    const found = findFor('rotate_secret', id, context, rows);
    if (!found.ok) return found;
    const [current] = found.row.secrets;
    // Wall time: with a frozen application clock the old secret would never expire.
    const expiresAt = context.wallNow + overlapSeconds * 1_000;
    const old = current && overlapSeconds > 0 ? [{ ...current, expiresAt }] : [];
    const row = { ...found.row, secrets: [storedSecret(newSecret), ...old] };
    return withSecret(moveWebhook('rotate_secret', found.row, row, context), newSecret);
  },
};

export const disableWebhook: CommandKind<{ readonly id: Id<'webhook'> }> = {
  name: 'webhooks.disable',
  success: 'ok',
  reads: readsWebhook,
  decide: ({ id }, context, rows) => {
    const found = findFor('disable', id, context, rows);
    return found.ok ? disabled(found.row, 'requested', context) : found;
  },
};

export interface DisableFailingWebhook {
  readonly id: Id<'webhook'>;
  readonly reason: 'gone' | 'failing';
  /** Since when all attempts have failed. */
  readonly failingSince: Instant;
}

/** How long an endpoint may fail continuously before it is disabled. */
export const failingMsMax = limits.webhookFailingDays * dayMs;

/** Disables an endpoint automatically. Not if it was enabled again in the meantime, because that restarts the failing period. */
export const disableFailingWebhook: CommandKind<DisableFailingWebhook> = {
  name: 'webhooks.give_up',
  success: 'ok',
  reads: readsWebhook,
  decide: ({ id, reason, failingSince }, context, rows) => {
    const row = rows.get<WebhookRow>('webhook', id);
    if (!row) return refuse('resource_not_found');
    const isOver = reason === 'gone' || context.now - Math.max(failingSince, row.since) >= failingMsMax;
    return row.status === 'enabled' && isOver ? disabled(row, reason, context) : accepted([], 'webhook', row);
  },
};

export const enableWebhook: CommandKind<{ readonly id: Id<'webhook'> }> = {
  name: 'webhooks.enable',
  success: 'ok',
  reads: readsWebhook,
  decide: ({ id }, context, rows) => {
    const found = findFor('enable', id, context, rows);
    if (!found.ok) return found;
    const row: WebhookRow = { ...found.row, status: 'enabled', disabledReason: null, since: context.now };
    return moveWebhook('enable', found.row, row, context);
  },
};

/** Final. The row is retained for the delivery history, without its secrets; pending deliveries end soon after. */
export const deleteWebhook: CommandKind<{ readonly id: Id<'webhook'> }> = {
  name: 'webhooks.delete',
  success: 'ok',
  reads: readsWebhook,
  decide: ({ id }, context, rows) => {
    const found = findFor('delete', id, context, rows);
    if (!found.ok) return found;
    const row: WebhookRow = {
      ...found.row,
      status: 'deleted',
      disabledReason: null,
      secrets: [],
      headers: null,
      since: context.now,
    };
    return moveWebhook('delete', found.row, row, context);
  },
};

function disabled(
  before: WebhookRow,
  disabledReason: WebhookRow['disabledReason'],
  context: CommandContext,
): Accepted {
  const row: WebhookRow = { ...before, status: 'disabled', disabledReason, since: context.now };
  return moveWebhook('disable', before, row, context);
}

function readsWebhook({ id }: { readonly id: Id<'webhook'> }) {
  return [{ resource: 'webhook', id, lock: 'update' }] as const;
}

/** The checks at the start of every move, in their documented order: existence, then state. */
export function findFor(
  action: WebhookAction,
  id: Id<'webhook'>,
  context: CommandContext,
  rows: LoadedRows,
): { readonly ok: true; readonly row: WebhookRow } | Refusal {
  const row = findWithinReach(id, context, rows);
  if (!row) return refuse('resource_not_found');
  return refuseMove(webhookMachine, action, row) ?? { ok: true, row };
}

/** For an API key, a webhook of another application is reported as not found. */
export function findWithinReach(
  id: Id<'webhook'>,
  context: CommandContext,
  rows: LoadedRows,
): WebhookRow | undefined {
  const row = rows.get<WebhookRow>('webhook', id);
  return row && reachesApplication(context, row.appId) ? row : undefined;
}

export function moveWebhook(
  action: WebhookAction,
  before: WebhookRow,
  after: WebhookRow,
  context: CommandContext,
): Accepted {
  const row = { ...after, version: before.version + 1, updatedAt: context.now };
  return accepted([change(webhookMachine, action, before, row)], 'webhook', row);
}

function refuseUrl(message: string): Refusal {
  return refuse('webhook_url_not_allowed', { message, param: '/url' });
}

function refuseHost(): Refusal {
  return refuse('webhook_host_limit_reached', { param: '/url' });
}

export function storedSecret({ secret, sealed }: NewSecret): StoredSecret {
  return { sealed, hint: secret.replace(/=+$/, '').slice(-4), expiresAt: null };
}

/** Adds the secret to the response. No other response shows it. */
export function withSecret(answer: Accepted, { secret }: NewSecret): Accepted {
  return { ...answer, secrets: { secret } };
}
