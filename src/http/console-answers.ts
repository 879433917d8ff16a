import { Type } from 'typebox';
import { roles } from '../kernel/permissions.ts';
import type { DeclaredResponse } from '../kernel/route.ts';
import { id, list, nullable, resource, Time } from '../kernel/schema.ts';
import { EventSchema } from '../resources/events/api.ts';
import { OrganizationSchema } from '../resources/organizations/api.ts';
import { snapshotType } from '../snapshots/format.ts';

/** A successful response of a console route that is not in the route tables. */
export interface ConsoleAnswer extends DeclaredResponse {
  /** For a stream, the schema describes each event; a snapshot is a file with its own format. */
  readonly contentType: 'application/json' | 'text/event-stream' | typeof snapshotType;
}

const Role = Type.Enum([...roles]);

const SessionSchema = resource('session', ['ok', 'two_factor_required'], {
  person: nullable(
    Type.Object({
      id: id('person'),
      email: Type.String(),
      name: Type.String(),
      twoFactor: Type.Boolean({ description: 'Whether the person signs in with a second factor.' }),
    }),
  ),
  organizations: Type.Array(Type.Object({ id: id('organization'), name: Type.String(), role: Role })),
  registration: Type.Enum(['closed', 'open']),
  publicUrl: Type.String(),
  apiVersion: Type.String(),
  limits: Type.Object(
    {
      nameLengthMax: Type.Integer(),
      passwordLengthMin: Type.Integer(),
      passwordLengthMax: Type.Integer(),
    },
    {
      description: 'For account forms. Without a session there are no capabilities to read the limits from.',
    },
  ),
  joined: Type.Optional(
    id('organization', { description: 'The organization that the person joined with this request.' }),
  ),
});

const DeviceSchema = resource('device_session', ['active'], {
  id: Type.String(),
  createdAt: Time,
  lastSeenAt: Time,
  expiresAt: Time,
  ip: nullable(Type.String()),
  userAgent: nullable(Type.String()),
  isCurrent: Type.Boolean(),
});

const TwoFactorSchema = resource('two_factor', ['pending'], {
  uri: Type.String({ description: 'For the QR code of an authenticator app.' }),
  secret: Type.String(),
  backupCodes: Type.Array(Type.String()),
});

const OfferSchema = resource('invitation', ['pending'], {
  organizationName: Type.String(),
  role: Role,
  email: nullable(Type.String({ description: 'Only the person with this address can accept it.' })),
  expiresAt: Time,
});

const json = { contentType: 'application/json' } as const;

/** The one list of these responses. The types of the console and the contract check of the tests are derived from it. */
export const consoleAnswers = {
  session: { ...json, response: SessionSchema, responseName: 'Session' },
  devices: { ...json, response: list(DeviceSchema), responseName: 'DeviceSessionList' },
  twoFactor: { ...json, response: TwoFactorSchema, responseName: 'TwoFactor' },
  /** An invitation as the invited person sees it. */
  invitationOffer: { ...json, response: OfferSchema, responseName: 'InvitationOffer' },
  organization: { ...json, response: OrganizationSchema, responseName: 'Organization' },
  eventStream: { contentType: 'text/event-stream', response: EventSchema, responseName: 'Event' },
  snapshot: { contentType: snapshotType, response: Type.String(), responseName: 'Snapshot' },
} as const satisfies Readonly<Record<string, ConsoleAnswer>>;
