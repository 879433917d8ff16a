import { type TSchema, Type } from 'typebox';
import { apiVersion, type Presented } from './envelope.ts';
import { instantToText } from './list.ts';
import { id as idOf, Time } from './schema.ts';
import type { Instant } from './table.ts';

/** As large as the column. */
const versionMax = 2_147_483_647;

/**
 * What a receiver gets, as text: the same bytes at every attempt, because they are what is signed. The resource in it is
 * the text that the answer showed, so an event and an answer never say different things.
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

/** The schema of that payload, for events of some types. */
export function payloadSchema(types: readonly string[], data: TSchema) {
  return Type.Object({
    object: Type.Literal('event'),
    id: Type.String({ ...idOf('event'), description: 'Stays the same at every attempt and replay.' }),
    sandbox: Type.Literal(true),
    requestId: Type.String({ ...idOf('request'), description: 'The request that brought it about.' }),
    status: Type.Literal('ok'),
    type: Type.Enum([...types]),
    apiVersion: Type.String(),
    timestamp: Type.String({ ...Time, description: 'When it happened, by the clock of the application.' }),
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
  readonly orgId: string;
  readonly appId: string | null;
  readonly requestId: string;
  readonly now: Instant;
}

/**
 * An event that somebody asked for. It tells of the record that its data names, and of the version that it has, as far as
 * it says so; else of itself.
 */
export function requestedEvent(
  { orgId, appId, requestId, now }: EventOrigin,
  id: string,
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

/** An event as the API shows it. `requestId` is that of the reading; whose request brought it about stands apart. */
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
  readonly orgId: string;
  readonly id: string;
  readonly appId: string;
  readonly type: string;
  readonly resource: string;
  readonly resourceId: string;
  readonly sequence: number;
  readonly requestId: string;
  /** The resource as JSON text, as the answer showed it. */
  readonly data: string;
  readonly createdAt: Instant;
}

/** A kind of event: what it tells of, and how the record in it looks. */
export interface EventType {
  readonly type: string;
  readonly resource: string;
  /** One sentence: what has happened when it is sent. */
  readonly description: string;
  /** The `data` of an event of this type. */
  readonly example: Presented;
  /** The whole event with that `data`, as a receiver gets it. */
  readonly payload: Presented & { readonly data: Presented };
  /** The schema of its `data`. */
  readonly schema: TSchema;
}
