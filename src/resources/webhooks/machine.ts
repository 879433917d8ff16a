import {
  type Accepted,
  accepted,
  type CommandContext,
  type CommandKind,
  change,
  type LoadedRows,
  reachesApplication,
} from '../../kernel/command.ts';
import type { Presented } from '../../kernel/envelope.ts';
import { type Refusal, refuse } from '../../kernel/errors.ts';
import { formatId } from '../../kernel/ids.ts';
import { limits } from '../../kernel/limits.ts';
import { instantToText, shownInstant } from '../../kernel/list.ts';
import { allowedActions, defineMachine, refuseMove } from '../../kernel/machine.ts';
import { failingMsMax } from '../../kernel/retry.ts';
import type { Instant } from '../../kernel/table.ts';
import { type StoredSecret, type WebhookRow, webhookStates } from './table.ts';

export const webhookMachine = defineMachine<WebhookRow>({
  resource: 'webhook',
  states: webhookStates,
  moves: [
    { action: 'create', from: [], to: ['enabled'], event: 'created', emitsNoEvent: true },
    {
      action: 'update',
      from: webhookStates,
      to: webhookStates,
      stays: true,
      event: 'updated',
      emitsNoEvent: true,
    },
    {
      action: 'rotate_secret',
      from: webhookStates,
      to: webhookStates,
      stays: true,
      event: 'secret_rotated',
      emitsNoEvent: true,
    },
    { action: 'disable', from: ['enabled'], to: ['disabled'] },
    { action: 'enable', from: ['disabled'], to: ['enabled'], emitsNoEvent: true },
    {
      action: 'test',
      from: webhookStates,
      to: webhookStates,
      stays: true,
      event: 'tested',
      isTraceless: true,
    },
  ],
  eventDescriptions: {
    disabled:
      'An endpoint was disabled: by request, because its receiver answered 410, or because it had failed for days.',
    tested: 'An endpoint is tested; only this endpoint receives the event.',
  },
});

/** What answers and events show of an endpoint: never its secret. */
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
    disabledReason: row.disabledReason,
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

/** 24 to 64 bytes in base64, with its padding. */
export const webhookSecretPattern =
  '^whsec_(?:(?:[A-Za-z0-9+/]{4}){8,20}(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?|(?:[A-Za-z0-9+/]{4}){21}(?:[A-Za-z0-9+/]{2}==)?)$';

/** A secret that was made, or given, for an endpoint: as it is shown this once, and as it is kept. */
export interface NewSecret {
  readonly secret: string;
  readonly sealed: string;
}

export interface CreateWebhook extends NewSecret {
  readonly fields: WebhookFields;
  /** What the guard has against the URL. */
  readonly urlProblem: string | null;
  /** How many the application has already. */
  readonly others: number;
  /** How many of them lead to the host of the URL. */
  readonly othersAtHost: number;
}

/** An endpoint to be is refused for its URL, which the guard has looked at, or because there are too many. */
export const createWebhook: CommandKind<CreateWebhook> = {
  name: 'webhooks.create',
  success: 'created',
  answersWithSecret: true,
  reads: () => [],
  decide: ({ fields, urlProblem, others, othersAtHost, ...made }, context) => {
    if (urlProblem !== null) return refuseUrl(urlProblem);
    if (others >= limits.webhooksPerApplicationMax) return refuse('webhook_limit_reached');
    if (othersAtHost >= limits.webhooksPerHostMax) return refuseHost();
    // From here it must succeed.
    const row = newWebhook(fields, made, context);
    return withSecret(accepted([change(webhookMachine, 'create', null, row)], 'webhook', row), made);
  },
};

function newWebhook(fields: WebhookFields, made: NewSecret, context: CommandContext): WebhookRow {
  const { orgId, appId, now, suffix } = context;
  if (appId === null) throw new Error('a webhook belongs to an application');
  return {
    orgId,
    id: formatId('webhook', suffix),
    appId,
    status: 'enabled',
    version: 1,
    ...fields,
    secrets: [kept(made)],
    disabledReason: null,
    since: now,
    createdAt: now,
    updatedAt: now,
  };
}

export interface DeclareWebhook extends NewSecret {
  readonly id: string;
  readonly appId: string;
  readonly fields: WebhookFields;
}

/** The seed file: makes the endpoint so. One that was disabled stays so; a secret that is the same stays as it is. */
export const declareWebhook: CommandKind<DeclareWebhook & { readonly isSameSecret: boolean }> = {
  name: 'webhooks.declare',
  success: 'ok',
  reads: ({ id }) => [{ resource: 'webhook', id, lock: 'update' }],
  decide: ({ id, appId, fields, isSameSecret, ...made }, context, rows) => {
    const before = rows.get<WebhookRow>('webhook', id);
    if (!before) {
      const row = { ...newWebhook(fields, made, { ...context, appId }), id };
      return accepted([change(webhookMachine, 'create', null, row)], 'webhook', row);
    }
    const secrets = isSameSecret ? before.secrets : [kept(made)];
    if (isSameSecret && isSame(before, fields)) return accepted([], 'webhook', before);
    return moved('update', before, { ...before, ...fields, secrets }, context);
  },
};

function isSame(row: WebhookRow, fields: WebhookFields): boolean {
  return (
    row.url === fields.url &&
    row.description === fields.description &&
    row.eventTypes.join() === fields.eventTypes.join() &&
    row.retryProfile === fields.retryProfile &&
    row.concurrencyMax === fields.concurrencyMax
  );
}

export interface UpdateWebhook {
  readonly id: string;
  readonly fields: Partial<WebhookFields>;
  readonly urlProblem: string | null;
  /** How many others of the application lead to the host of a new URL. */
  readonly othersAtHost: number;
}

export const updateWebhook: CommandKind<UpdateWebhook> = {
  name: 'webhooks.update',
  success: 'ok',
  reads: readsWebhook,
  decide: ({ id, fields, urlProblem, othersAtHost }, context, rows) => {
    const found = findFor('update', id, context, rows);
    if (!found.ok) return found;
    if (urlProblem !== null) return refuseUrl(urlProblem);
    if (othersAtHost >= limits.webhooksPerHostMax) return refuseHost();
    return moved('update', found.row, { ...found.row, ...fields }, context);
  },
};

export interface RotateSecret extends NewSecret {
  readonly id: string;
  readonly overlapSeconds: number;
}

/** The new secret signs at once. The old one signs beside it until its end, so that receivers can change over at leisure. */
export const rotateSecret: CommandKind<RotateSecret> = {
  name: 'webhooks.rotate_secret',
  success: 'ok',
  answersWithSecret: true,
  reads: readsWebhook,
  decide: ({ id, overlapSeconds, ...made }, context, rows) => {
    const found = findFor('rotate_secret', id, context, rows);
    if (!found.ok) return found;
    const [current] = found.row.secrets;
    // By the wall clock: a frozen application clock would let the old secret sign for ever.
    const expiresAt = context.wallNow + overlapSeconds * 1_000;
    const old = current && overlapSeconds > 0 ? [{ ...current, expiresAt }] : [];
    const row = { ...found.row, secrets: [kept(made), ...old] };
    return withSecret(moved('rotate_secret', found.row, row, context), made);
  },
};

export const disableWebhook: CommandKind<{ readonly id: string }> = {
  name: 'webhooks.disable',
  success: 'ok',
  reads: readsWebhook,
  decide: ({ id }, context, rows) => {
    const found = findFor('disable', id, context, rows);
    return found.ok ? disabled(found.row, 'requested', context) : found;
  },
};

export interface GiveUpWebhook {
  readonly id: string;
  readonly reason: 'gone' | 'failing';
  /** Since when every attempt has failed. */
  readonly failingSince: Instant;
}

/** Sandbank itself disables an endpoint. It may have been enabled again meanwhile, which begins the count anew. */
export const giveUpWebhook: CommandKind<GiveUpWebhook> = {
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

export const enableWebhook: CommandKind<{ readonly id: string }> = {
  name: 'webhooks.enable',
  success: 'ok',
  reads: readsWebhook,
  decide: ({ id }, context, rows) => {
    const found = findFor('enable', id, context, rows);
    if (!found.ok) return found;
    const row: WebhookRow = { ...found.row, status: 'enabled', disabledReason: null, since: context.now };
    return moved('enable', found.row, row, context);
  },
};

export function disabled(
  before: WebhookRow,
  disabledReason: WebhookRow['disabledReason'],
  context: CommandContext,
): Accepted {
  const row: WebhookRow = { ...before, status: 'disabled', disabledReason, since: context.now };
  return moved('disable', before, row, context);
}

function readsWebhook({ id }: { readonly id: string }) {
  return [{ resource: 'webhook', id, lock: 'update' }] as const;
}

/** The guards that every move begins with, in their documented order: existence, then state. */
export function findFor(
  action: string,
  id: string,
  context: CommandContext,
  rows: LoadedRows,
): { readonly ok: true; readonly row: WebhookRow } | Refusal {
  const row = findWithinReach(id, context, rows);
  if (!row) return refuse('resource_not_found');
  return refuseMove(webhookMachine, action, row) ?? { ok: true, row };
}

/** To an API key, a webhook of another application does not exist. */
export function findWithinReach(
  id: string,
  context: CommandContext,
  rows: LoadedRows,
): WebhookRow | undefined {
  const row = rows.get<WebhookRow>('webhook', id);
  return row && reachesApplication(context, row.appId) ? row : undefined;
}

function moved(action: string, before: WebhookRow, after: WebhookRow, context: CommandContext): Accepted {
  const row = { ...after, version: before.version + 1, updatedAt: context.now };
  return accepted([change(webhookMachine, action, before, row)], 'webhook', row);
}

function refuseUrl(message: string): Refusal {
  return refuse('webhook_url_not_allowed', { message, param: '/url' });
}

function refuseHost(): Refusal {
  return refuse('webhook_host_limit_reached', { param: '/url' });
}

function kept({ secret, sealed }: NewSecret): StoredSecret {
  return { sealed, hint: secret.replace(/=+$/, '').slice(-4), expiresAt: null };
}

/** The one answer that shows the secret. */
function withSecret(answer: Accepted, { secret }: NewSecret): Accepted {
  return { ...answer, secrets: { secret } };
}
