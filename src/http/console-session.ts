import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { type Static, type TSchema, Type } from 'typebox';
import type { Engine } from '../engine/engine.ts';
import { KeyedMutex } from '../engine/keyed-mutex.ts';
import type { Answer, Submission } from '../engine/submission.ts';
import type { Outcome } from '../identity/call-better-auth.ts';
import type { People, Person } from '../identity/people.ts';
import { networkOf } from '../identity/sign-in-throttle.ts';
import { defaultApplicationSettings } from '../kernel/application-settings.ts';
import type { Actor } from '../kernel/command.ts';
import { apiVersion, type Presented, resourceBody, type Success, successStatus } from '../kernel/envelope.ts';
import { type Refusal, refuse } from '../kernel/errors.ts';
import { formatId, idPrefixes } from '../kernel/ids.ts';
import { limits } from '../kernel/limits.ts';
import { instantToText } from '../kernel/list.ts';
import type { Reader } from '../kernel/route.ts';
import { exactlyOne, PersonEmail, strict, text } from '../kernel/schema.ts';
import { acceptInvitation, isOpen } from '../resources/organizations/invitation-machine.ts';
import { findInvitation, type KnownInvitation } from '../resources/organizations/invitation-store.ts';
import { createOrganization } from '../resources/organizations/member-machine.ts';
import {
  findMemberships,
  mayCreateOrganization,
  refuseOrganization,
} from '../resources/organizations/member-store.ts';
import { accountTrail } from './account-trail.ts';
import { refuseOrigin } from './console-origin.ts';
import { type ConsoleSettings, consolePrefix, personOf, setCookies, visitorOf } from './console-routes.ts';
import { createRateLimiter } from './rate-limit.ts';
import { Refused } from './refused.ts';
import { sendAnswer, sendJson } from './send.ts';
import { compileBody } from './validate.ts';

export interface SessionSettings {
  readonly people: People;
  readonly engine: Engine;
  readonly reader: Reader;
  readonly publicUrl: () => string;
  readonly wallClock: () => number;
  readonly uptime: () => number;
  readonly limitPerson: ConsoleSettings['limitPerson'];
  /** Whether anybody may sign up, or only who was invited. */
  readonly isOpen: boolean;
  readonly hashOfToken: (token: string) => Uint8Array;
}

const Password = Type.String({ minLength: limits.passwordLengthMin, maxLength: limits.passwordLengthMax });
/** What is only compared may be of any length that a password ever had. */
const Given = text(limits.passwordLengthMax);
const Name = text(limits.nameLengthMax);
const Token = Type.String({ pattern: '^[A-Za-z0-9_-]{10,100}$' });

const SignUp = strict({
  name: Name,
  email: PersonEmail,
  password: Password,
  invitation: Type.Optional(Token),
});
const SignIn = strict({ email: PersonEmail, password: Given });
const Second = strict(
  { code: Type.Optional(text(12)), backupCode: Type.Optional(text(40)) },
  exactlyOne('code', 'backupCode'),
);
const Profile = strict({ name: Name });
const NewPassword = strict({ currentPassword: Given, newPassword: Password });
const WithPassword = strict({ password: Given });
const Code = strict({ code: text(12) });
const Reset = strict({ token: Token, newPassword: Password });
const NewOrganization = strict({ name: Name });
const Nothing = strict({});

/** Requests without a session from one network; twice as many at once. */
const anonymousPerSecond = 50;

/** The routes of the console that belong to no organization: who is signed in, and how that came about. */
export function addSessionRoutes(app: FastifyInstance, settings: SessionSettings): void {
  const { people, engine, reader, publicUrl, wallClock, uptime } = settings;
  const anonymous = createRateLimiter(anonymousPerSecond);
  const creations = new KeyedMutex();
  const note = accountTrail(settings);

  const session = async (person: Person | null): Promise<Presented> => {
    const memberships = person ? await findMemberships(reader, person.id) : [];
    return {
      ...{ object: 'session', sandbox: true, status: 'ok' },
      person: person && {
        ...{ id: person.id, email: person.email, name: person.name, twoFactor: person.hasTwoFactor },
      },
      organizations: memberships.map(({ orgId, orgName, role }) => ({ id: orgId, name: orgName, role })),
      registration: settings.isOpen ? 'open' : 'closed',
      publicUrl: publicUrl(),
      apiVersion,
    };
  };

  const show = (reply: FastifyReply, presented: Presented, success: Success = 'ok') =>
    sendJson(reply, successStatus[success], resourceBody(presented, reply.request.id));

  /** Takes what was asked for, or the refusal, and what the browser shall keep. */
  function taken<Value>(reply: FastifyReply, outcome: Outcome<Value> | Refusal): Value {
    if (!outcome.ok) throw new Refused(outcome);
    setCookies(reply, outcome.cookies);
    return outcome.value;
  }

  const signedIn = async (request: FastifyRequest, reply: FastifyReply): Promise<Person> => {
    const person = await personOf(settings, request, reply);
    if (!person) throw new Refused(refuse('session_missing'));
    return person;
  };

  function checkOrigin(request: FastifyRequest, _reply: FastifyReply, done: (error?: Error) => void): void {
    const foreign = refuseOrigin(request.method, request.headers, publicUrl());
    done(foreign ? new Refused(foreign) : undefined);
  }

  /** For cheap requests without a session. They have a bound of their own, so that they cannot slow down signing in. */
  function boundAnonymous({ ip }: FastifyRequest): void {
    const { refusal } = anonymous.take(networkOf(ip), uptime());
    if (refusal) throw new Refused(refusal);
  }

  function get(
    path: string,
    handler: (request: FastifyRequest, reply: FastifyReply) => Promise<FastifyReply>,
  ) {
    app.get(`${consolePrefix}${path}`, { onRequest: checkOrigin }, handler);
  }

  function post<S extends TSchema>(
    path: string,
    schema: S,
    handler: (body: Static<S>, request: FastifyRequest, reply: FastifyReply) => Promise<FastifyReply>,
  ) {
    const check = compileBody(schema);
    app.post(`${consolePrefix}${path}`, { onRequest: checkOrigin }, (request, reply) => {
      const body = request.body ?? {};
      const refusal = check(body);
      if (refusal) throw new Refused(refusal);
      return handler(body as Static<S>, request, reply);
    });
  }

  function submission(
    request: FastifyRequest,
    orgId: string,
    person: Person,
  ): Omit<Submission, 'kind' | 'input'> {
    const actor: Actor = { kind: 'person', id: person.id };
    const suffix = request.id.slice(idPrefixes.request.length + 1);
    return {
      idempotency: null,
      wallNow: wallClock(),
      context: {
        orgId,
        appId: null,
        settings: defaultApplicationSettings,
        actor,
        requestId: request.id,
        ip: request.ip,
        suffix,
      },
    };
  }

  const openInvitation = async (token: string): Promise<KnownInvitation> => {
    const found = await findInvitation(reader, settings.hashOfToken(token));
    if (!found || !isOpen(found, found.creator, wallClock())) throw new Refused(refuse('resource_not_found'));
    return found;
  };

  const accept = (request: FastifyRequest, invitation: KnownInvitation, person: Person): Promise<Answer> =>
    engine.submit({
      ...submission(request, invitation.orgId, person),
      kind: acceptInvitation,
      target: { resource: 'invitation', id: invitation.id, isClaimed: true },
      input: { id: invitation.id, personId: person.id, email: person.email },
    });

  get('session', async (request, reply) => {
    return show(reply, await session(await personOf(settings, request, reply)));
  });

  post('session/sign_up', SignUp, async ({ invitation: token, ...asked }, request, reply) => {
    boundAnonymous(request);
    const invitation = token === undefined ? undefined : await openInvitation(token);
    if (!settings.isOpen && !invitation) throw new Refused(refuse('registration_closed'));
    const email = asked.email.toLowerCase();
    if (invitation && invitation.email !== null && invitation.email !== email)
      throw new Refused(refuse('invitation_for_another', { param: '/email' }));
    // Another sign-up may use the link at the same moment: without joining there is no account.
    const join =
      invitation &&
      (async (newcomer: Person) => {
        const { code } = await accept(request, invitation, newcomer);
        if (code === null) return undefined;
        return refuse(code, { message: 'This invitation was used or has ended. Ask for a new one.' });
      });
    const person = taken(reply, await people.signUp({ ...asked, email }, visitorOf(request), join));
    const joined = invitation ? { joined: invitation.orgId } : {};
    return show(reply, { ...(await session(person)), ...joined }, 'created');
  });

  post('session/sign_in', SignIn, async (asked, request, reply) => {
    const person = taken(reply, await people.signIn(asked, visitorOf(request)));
    if (person) await note(request, person, 'sign_in');
    const presented = await session(person);
    return show(reply, person ? presented : { ...presented, status: 'two_factor_required' });
  });

  post('session/two_factor', Second, async ({ code, backupCode }, request, reply) => {
    const asked = code === undefined ? { backupCode: backupCode ?? '' } : { code };
    const person = taken(reply, await people.verifySecond(asked, visitorOf(request)));
    await note(request, person, 'sign_in');
    return show(reply, await session(person));
  });

  post('session/sign_out', Nothing, async (_body, request, reply) => {
    const found = await people.whoIs(visitorOf(request));
    taken(reply, await people.signOut(visitorOf(request)));
    if (found) await note(request, found.value.person, 'sign_out');
    return show(reply, await session(null));
  });

  post('session/profile', Profile, async ({ name }, request, reply) => {
    const person = await signedIn(request, reply);
    taken(reply, await people.rename(name, visitorOf(request)));
    await note(request, person, 'rename');
    return show(reply, await session({ ...person, name }));
  });

  post('session/password', NewPassword, async (asked, request, reply) => {
    const person = await signedIn(request, reply);
    taken(reply, await people.changePassword(asked, person, visitorOf(request)));
    await note(request, person, 'change_password');
    return show(reply, await session(person));
  });

  post('session/password_reset', Reset, async (asked, request, reply) => {
    boundAnonymous(request);
    const person = taken(reply, await people.resetPassword(asked));
    await note(request, person, 'reset_password');
    return show(reply, await session(null));
  });

  get('session/devices', async (request, reply) => {
    await signedIn(request, reply);
    const data = (await people.devices(visitorOf(request))).map((device) => ({
      ...{ object: 'device_session', sandbox: true, status: 'active', id: device.id },
      createdAt: instantToText(device.createdAt),
      lastSeenAt: instantToText(device.lastSeenAt),
      expiresAt: instantToText(device.expiresAt),
      ip: device.address,
      userAgent: device.agent,
      isCurrent: device.id === request.sessionId,
    }));
    return show(reply, {
      object: 'list',
      sandbox: true,
      status: 'ok',
      data,
      hasMore: false,
      nextCursor: null,
    });
  });

  post('session/devices/revoke_others', Nothing, async (_body, request, reply) => {
    const person = await signedIn(request, reply);
    taken(reply, await people.revokeOthers(visitorOf(request)));
    await note(request, person, 'revoke_sessions');
    return show(reply, await session(person));
  });

  post('session/devices/:id/revoke', Nothing, async (_body, request, reply) => {
    const person = await signedIn(request, reply);
    const { id } = request.params as { id: string };
    taken(reply, await people.revokeDevice(id, visitorOf(request)));
    await note(request, person, 'revoke_sessions');
    return show(reply, await session(person));
  });

  post('session/two_factor/enable', WithPassword, async ({ password }, request, reply) => {
    const person = await signedIn(request, reply);
    const { uri, backupCodes } = taken(
      reply,
      await people.enableTwoFactor(password, person, visitorOf(request)),
    );
    const secret = new URL(uri).searchParams.get('secret');
    return show(reply, {
      ...{ object: 'two_factor', sandbox: true, status: 'pending' },
      uri,
      secret,
      backupCodes,
    });
  });

  post('session/two_factor/confirm', Code, async ({ code }, request, reply) => {
    await signedIn(request, reply);
    const person = taken(reply, await people.verifySecond({ code }, visitorOf(request)));
    await note(request, person, 'enable_two_factor');
    return show(reply, await session({ ...person, hasTwoFactor: true }));
  });

  post('session/two_factor/disable', WithPassword, async ({ password }, request, reply) => {
    const person = await signedIn(request, reply);
    taken(reply, await people.disableTwoFactor(password, person, visitorOf(request)));
    await note(request, person, 'disable_two_factor');
    return show(reply, await session({ ...person, hasTwoFactor: false }));
  });

  get('session/invitations/:token', async (request, reply) => {
    boundAnonymous(request);
    const { token } = request.params as { token: string };
    const { orgName, role, email, expiresAt } = await openInvitation(token);
    return show(reply, {
      ...{ object: 'invitation', sandbox: true, status: 'pending' },
      ...{ organizationName: orgName, role, email, expiresAt: instantToText(expiresAt) },
    });
  });

  post('session/invitations/:token/accept', Nothing, async (_body, request, reply) => {
    const person = await signedIn(request, reply);
    const { token } = request.params as { token: string };
    const invitation = await openInvitation(token);
    const answer = await accept(request, invitation, person);
    if (answer.code !== null) return sendAnswer(reply, answer);
    return show(reply, { ...(await session(person)), joined: invitation.orgId });
  });

  post('session/organizations', NewOrganization, async ({ name }, request, reply) => {
    const person = await signedIn(request, reply);
    if (!(await mayCreateOrganization(reader, person.id, settings.isOpen)))
      throw new Refused(refuse('registration_closed'));
    // Nodes do not wait for each other: the limit may be passed by a few.
    return creations.run(person.id, async () => {
      const refusal = await refuseOrganization(reader, person.id);
      if (refusal) throw new Refused(refusal);
      const answer = await engine.submit({
        ...submission(request, formatId('organization', engine.idGenerator.organization(name)), person),
        kind: createOrganization,
        input: { name, personId: person.id },
      });
      return sendAnswer(reply, answer);
    });
  });
}
