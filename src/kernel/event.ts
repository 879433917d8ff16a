import { type TSchema, Type } from 'typebox';
import { apiVersion, type Presented } from './envelope.ts';
import type { Id } from './ids.ts';
import { instantToText } from './list.ts';
import { id as idOf, Time } from './schema.ts';
import type { Instant } from './table.ts';

/** As large as the column. */
const versionMax = 2_147_483_647;

/**
 * The webhook payload as text: the same bytes at every attempt, because they are signed. It contains the resource text of the
 * response, so an event and a response never differ.
 */
export function eventPayload(event: Omit<EventRow, 'orgId' | 'appId' | 'resource' | 'resourceId'>): string {
  const { id, requestId, type, createdAt, sequence, data } = event;
  const head = JSON.stringify({
    object: 'event',
    id,
    sandbox: true,
    requestId,
    status: 'ok',
    type,
    apiVersion,
    timestamp: instantToText(createdAt),
    sequence,
  });
  return `${head.slice(0, -1)},"data":${data}}`;
}

/** The schema of the webhook payload, for events of these types. */
export function payloadSchema(types: readonly string[], data: TSchema) {
  return Type.Object({
    object: Type.Literal('event'),
    id: idOf('event', { description: 'Stays the same at every attempt and replay.' }),
    sandbox: Type.Literal(true),
    requestId: idOf('request', { description: 'The request that caused the event.' }),
    status: Type.Literal('ok'),
    type: Type.Enum([...types]),
    apiVersion: Type.String(),
    timestamp: Type.String({ ...Time, description: 'When it happened, by the application clock.' }),
    sequence: Type.Integer({
      minimum: 1,
      description:
        'The `version` of the record: of two of its events, the one with the higher number is the later.',
    }),
    data,
  });
}

/** The application and the request that an event comes from. */
export interface EventOrigin {
  readonly orgId: Id<'organization'>;
  readonly appId: Id<'application'> | null;
  readonly requestId: Id<'request'>;
  readonly now: Instant;
}

/**
 * An event that a caller requested. Its record and version are the `id` and `version` of its data; without them, the event's own
 * id and 1.
 */
export function requestedEvent(
  { orgId, appId, requestId, now }: EventOrigin,
  id: Id<'event'>,
  { type, data }: { type: string; data: Readonly<Record<string, unknown>> },
): EventRow {
  if (appId === null) throw new Error('an event belongs to an application');
  const { version } = data;
  const isVersioned = Number.isInteger(version) && Number(version) >= 1 && Number(version) <= versionMax;
  const isNamed = typeof data.id === 'string' && /^[a-z]{3}_[0-9a-z]{26}$/.test(data.id);
  return {
    orgId,
    id,
    appId,
    type,
    resource: type.split('.')[0] ?? type,
    resourceId: isNamed ? String(data.id) : id,
    sequence: isVersioned ? Number(version) : 1,
    requestId,
    data: JSON.stringify(data),
    createdAt: now,
  };
}

/** An event as the API shows it. `requestId` is the id of the read; `originRequestId` is the request that caused the event. */
export function presentEvent(row: EventRow): Presented {
  return {
    object: 'event',
    sandbox: true,
    status: 'ok',
    id: row.id,
    type: row.type,
    apiVersion,
    timestamp: instantToText(row.createdAt),
    sequence: row.sequence,
    applicationId: row.appId,
    resource: row.resource,
    resourceId: row.resourceId,
    originRequestId: row.requestId,
    data: JSON.parse(row.data) as unknown,
    createdAt: instantToText(row.createdAt),
  };
}

export interface EventRow {
  readonly orgId: Id<'organization'>;
  readonly id: Id<'event'>;
  readonly appId: Id<'application'>;
  readonly type: string;
  readonly resource: string;
  readonly resourceId: string;
  readonly sequence: number;
  readonly requestId: Id<'request'>;
  /** The resource as JSON text, as in the response. */
  readonly data: string;
  readonly createdAt: Instant;
}

/** An event type: its resource, with a description, an example and a schema. */
export interface EventType {
  readonly type: string;
  readonly resource: string;
  /** One sentence: when it is emitted. */
  readonly description: string;
  /** The `data` of an event of this type. */
  readonly example: Presented;
  /** The complete event with that `data`, as a receiver gets it. */
  readonly payload: Presented & { readonly data: Presented };
  /** The schema of its `data`. */
  readonly schema: TSchema;
}

/**
 * Event filters of endpoints, event streams and fault plans. A filter is `*`, a resource such as `payment.*`, or one type such as
 * `payment.captured`.
 */
export function matchesEventFilter(filters: readonly string[], type: string): boolean {
  const ofResource = resourceFilter(type);
  return filters.some((filter) => filter === '*' || filter === type || filter === ofResource);
}

/** Every filter that matches at least one of the types. */
export function eventFilters(types: readonly string[]): readonly string[] {
  return ['*', ...new Set(types.map(resourceFilter)), ...types];
}

function resourceFilter(type: string): string {
  return `${type.split('.', 1)[0]}.*`;
}

/** The same rule in SQL, on a `jsonb` array of filters. Both arguments are SQL expressions. */
export function matchesEventFilterSql(filters: string, type: string): string {
  return `${filters} ?| array['*', ${type}, split_part(${type}, '.', 1) || '.*']`;
}
