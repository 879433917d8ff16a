import { Type } from 'typebox';
import { roles } from '../kernel/permissions.ts';
import type { DeclaredResponse } from '../kernel/route.ts';
import { id, list, nullable, resource, Time } from '../kernel/schema.ts';
import { EventSchema } from '../resources/events/api.ts';
import { OrganizationSchema } from '../resources/organizations/api.ts';
import { ForkSchema } from '../resources/organizations/snapshot-api.ts';
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
  organizations: Type.Array(
    Type.Object({
      id: id('organization'),
      name: Type.String(),
      role: Role,
      requiresTwoFactor: Type.Boolean({ description: 'Members without a second factor have no access.' }),
    }),
  ),
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
  hasEnded: Type.Optional(
    Type.Boolean({ description: 'The browser sent the cookie of a session that is not valid any more.' }),
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

const BackupCodesSchema = resource('backup_codes', ['ok'], { backupCodes: Type.Array(Type.String()) });

const AccountEventSchema = resource('account_event', ['ok'], {
  id: Type.String(),
  at: Time,
  action: Type.String(),
  ip: nullable(Type.String()),
  userAgent: nullable(Type.String()),
});

const PasskeySchema = resource('passkey', ['active'], {
  id: Type.String(),
  name: Type.String(),
  createdAt: Time,
});

const PasskeyOptionsSchema = resource('passkey_options', ['ok'], {
  options: Type.Unknown({ description: 'The options of the WebAuthn API, as JSON.' }),
});

const WebhookSecretSchema = resource('webhook_secret', ['ok'], {
  webhookId: id('webhook'),
  secret: Type.String(),
});

const json = { contentType: 'application/json' } as const;

/** The one list of these responses. The types of the console and the contract check of the tests are derived from it. */
export const consoleAnswers = {
  session: { ...json, response: SessionSchema, responseName: 'Session' },
  devices: { ...json, response: list(DeviceSchema), responseName: 'DeviceSessionList' },
  twoFactor: { ...json, response: TwoFactorSchema, responseName: 'TwoFactor' },
  backupCodes: { ...json, response: BackupCodesSchema, responseName: 'BackupCodes' },
  history: { ...json, response: list(AccountEventSchema), responseName: 'AccountEventList' },
  passkeys: { ...json, response: list(PasskeySchema), responseName: 'PasskeyList' },
  passkeyOptions: { ...json, response: PasskeyOptionsSchema, responseName: 'PasskeyOptions' },
  webhookSecret: { ...json, response: WebhookSecretSchema, responseName: 'WebhookSecret' },
  /** An invitation as the invited person sees it. */
  invitationOffer: { ...json, response: OfferSchema, responseName: 'InvitationOffer' },
  organization: { ...json, response: OrganizationSchema, responseName: 'Organization' },
  eventStream: { contentType: 'text/event-stream', response: EventSchema, responseName: 'Event' },
  restoredSnapshot: { ...json, response: ForkSchema, responseName: 'Fork' },
  snapshot: { contentType: snapshotType, response: Type.String(), responseName: 'Snapshot' },
} as const satisfies Readonly<Record<string, ConsoleAnswer>>;
