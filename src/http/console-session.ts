import type { FastifyInstance, FastifyRequest } from 'fastify';
import { Type } from 'typebox';
import { KeyedMutex } from '../engine/keyed-mutex.ts';
import type { Person } from '../identity/people.ts';
import type { Answer } from '../kernel/command.ts';
import { refuse } from '../kernel/errors.ts';
import { formatId } from '../kernel/ids.ts';
import { limits } from '../kernel/limits.ts';
import { instantToText } from '../kernel/list.ts';
import { exactlyOne, PersonEmail, strict, text } from '../kernel/schema.ts';
import {
  acceptInvitation,
  isOpen as isOpenInvitation,
} from '../resources/organizations/invitation-machine.ts';
import { findInvitation, type KnownInvitation } from '../resources/organizations/invitation-store.ts';
import { createOrganization } from '../resources/organizations/member-machine.ts';
import {
  mayCreateOrganization,
  refuseTooManyOrganizations,
} from '../resources/organizations/member-store.ts';
import { consoleAnswers } from './console-answers.ts';
import { personOf, visitorOf } from './console-routes.ts';
import { Refused } from './refused.ts';
import { sendAnswer } from './send.ts';
import { SessionContext, type SessionSettings } from './session-context.ts';

const { session, devices, twoFactor, invitationOffer, organization } = consoleAnswers;

const Password = Type.String({ minLength: limits.passwordLengthMin, maxLength: limits.passwordLengthMax });
/** A password that is only compared: it may be shorter than the current minimum. */
const CurrentPassword = text(limits.passwordLengthMax);
const Name = text(limits.nameLengthMax);
const Token = Type.String({ pattern: '^[A-Za-z0-9_-]{10,100}$' });

const SignUp = strict({
  name: Name,
  email: PersonEmail,
  password: Password,
  invitation: Type.Optional(Token),
});
const SignIn = strict({ email: PersonEmail, password: CurrentPassword });
const SecondFactor = strict(
  { code: Type.Optional(text(12)), backupCode: Type.Optional(text(40)) },
  exactlyOne('code', 'backupCode'),
);
const Profile = strict({ name: Name });
const NewPassword = strict({ currentPassword: CurrentPassword, newPassword: Password });
const WithPassword = strict({ password: CurrentPassword });
const Code = strict({ code: text(12) });
const Reset = strict({ token: Token, newPassword: Password });
const NewOrganization = strict({ name: Name });
const Nothing = strict({});

/** The console routes outside any organization: session, account, devices, second factor and invitations. */
export function addSessionRoutes(app: FastifyInstance, settings: SessionSettings): void {
  const context = new SessionContext(app, settings);
  addSessionRoute(context);
  addSignInRoutes(context);
  addAccountRoutes(context);
  addDeviceRoutes(context);
  addTwoFactorRoutes(context);
  addInvitationRoutes(context);
  addOrganizationRoute(context);
}

/** The signed-in person and their organizations. */
function addSessionRoute(context: SessionContext): void {
  context.get('session', session, async (request, reply) => {
    return context.showSession(reply, await personOf(context.settings, request, reply));
  });
}

/** Signing up, in and out. */
function addSignInRoutes(context: SessionContext): void {
  const { people, isOpen } = context.settings;

  context.post(
    'session/sign_up',
    SignUp,
    session,
    async ({ invitation: token, ...account }, request, reply) => {
      context.limitAnonymous(request);
      const invitation = token === undefined ? undefined : await openInvitation(context.settings, token);
      if (!isOpen && !invitation) throw new Refused(refuse('registration_closed'));
      const email = account.email.toLowerCase();
      if (invitation && invitation.email !== null && invitation.email !== email)
        throw new Refused(refuse('invitation_for_another', { param: '/email' }));
      // Another sign-up may use the same link concurrently: if joining fails, no account is created.
      const join =
        invitation &&
        (async (newcomer: Person) => {
          const { code } = await accept(context, request, invitation, newcomer);
          if (code === null) return undefined;
          return refuse(code, { message: 'This invitation was used or has expired. Ask for a new one.' });
        });
      const person = context.take(
        reply,
        await people.signUp({ ...account, email }, visitorOf(request), join),
      );
      const joined = invitation ? { joined: invitation.orgId } : {};
      return context.show(reply, { ...(await context.present(person)), ...joined }, 'created');
    },
  );

  context.post('session/sign_in', SignIn, session, async (credentials, request, reply) => {
    const person = context.take(reply, await people.signIn(credentials, visitorOf(request)));
    if (person) await context.note(request, person, 'sign_in');
    const presented = await context.present(person);
    return context.show(reply, person ? presented : { ...presented, status: 'two_factor_required' });
  });

  context.post('session/two_factor', SecondFactor, session, async ({ code, backupCode }, request, reply) => {
    const factor = code === undefined ? { backupCode: backupCode ?? '' } : { code };
    const person = context.take(reply, await people.verifySecond(factor, visitorOf(request)));
    await context.note(request, person, 'sign_in');
    return context.showSession(reply, person);
  });

  context.post('session/sign_out', Nothing, session, async (_body, request, reply) => {
    const session = await people.signedIn(visitorOf(request));
    context.take(reply, await people.signOut(visitorOf(request)));
    if (session) await context.note(request, session.value.person, 'sign_out');
    return context.showSession(reply, null);
  });
}

/** Name and password. */
function addAccountRoutes(context: SessionContext): void {
  const { people } = context.settings;

  context.post('session/profile', Profile, session, async ({ name }, request, reply) => {
    const person = await context.signedIn(request, reply);
    context.take(reply, await people.rename(name, visitorOf(request)));
    await context.note(request, person, 'rename');
    return context.showSession(reply, { ...person, name });
  });

  context.post('session/password', NewPassword, session, async (passwords, request, reply) => {
    const person = await context.signedIn(request, reply);
    context.take(reply, await people.changePassword(passwords, person, visitorOf(request)));
    await context.note(request, person, 'change_password');
    return context.showSession(reply, person);
  });

  context.post('session/password_reset', Reset, session, async (reset, request, reply) => {
    context.limitAnonymous(request);
    const person = context.take(reply, await people.resetPassword(reset));
    await context.note(request, person, 'reset_password');
    return context.showSession(reply, null);
  });
}

/** A person's sessions on all devices. */
function addDeviceRoutes(context: SessionContext): void {
  const { people } = context.settings;

  context.get('session/devices', devices, async (request, reply) => {
    await context.signedIn(request, reply);
    const data = (await people.devices(visitorOf(request))).map((device) => ({
      ...{ object: 'device_session', sandbox: true, status: 'active', id: device.id },
      createdAt: instantToText(device.createdAt),
      lastSeenAt: instantToText(device.lastSeenAt),
      expiresAt: instantToText(device.expiresAt),
      ip: device.address,
      userAgent: device.agent,
      isCurrent: device.id === request.sessionId,
    }));
    return context.show(reply, {
      object: 'list',
      sandbox: true,
      status: 'ok',
      data,
      hasMore: false,
      nextCursor: null,
    });
  });

  context.post('session/devices/revoke_others', Nothing, session, async (_body, request, reply) => {
    const person = await context.signedIn(request, reply);
    context.take(reply, await people.revokeOthers(visitorOf(request)));
    await context.note(request, person, 'revoke_sessions');
    return context.showSession(reply, person);
  });

  context.post('session/devices/:id/revoke', Nothing, session, async (_body, request, reply) => {
    const person = await context.signedIn(request, reply);
    const { id } = request.params as { id: string };
    context.take(reply, await people.revokeDevice(id, visitorOf(request)));
    await context.note(request, person, 'revoke_sessions');
    return context.showSession(reply, person);
  });
}

/** Enabling and disabling the second factor. */
function addTwoFactorRoutes(context: SessionContext): void {
  const { people } = context.settings;

  context.post('session/two_factor/enable', WithPassword, twoFactor, async ({ password }, request, reply) => {
    const person = await context.signedIn(request, reply);
    const { uri, backupCodes } = context.take(
      reply,
      await people.enableTwoFactor(password, person, visitorOf(request)),
    );
    const secret = new URL(uri).searchParams.get('secret');
    return context.show(reply, {
      ...{ object: 'two_factor', sandbox: true, status: 'pending' },
      uri,
      secret,
      backupCodes,
    });
  });

  context.post('session/two_factor/confirm', Code, session, async ({ code }, request, reply) => {
    await context.signedIn(request, reply);
    const person = context.take(reply, await people.verifySecond({ code }, visitorOf(request)));
    await context.note(request, person, 'enable_two_factor');
    return context.showSession(reply, { ...person, hasTwoFactor: true });
  });

  context.post('session/two_factor/disable', WithPassword, session, async ({ password }, request, reply) => {
    const person = await context.signedIn(request, reply);
    context.take(reply, await people.disableTwoFactor(password, person, visitorOf(request)));
    await context.note(request, person, 'disable_two_factor');
    return context.showSession(reply, { ...person, hasTwoFactor: false });
  });
}

/** Invitations, by the token in their link. */
function addInvitationRoutes(context: SessionContext): void {
  context.get('session/invitations/:token', invitationOffer, async (request, reply) => {
    context.limitAnonymous(request);
    const { token } = request.params as { token: string };
    const { orgName, role, email, expiresAt } = await openInvitation(context.settings, token);
    return context.show(reply, {
      ...{ object: 'invitation', sandbox: true, status: 'pending' },
      ...{ organizationName: orgName, role, email, expiresAt: instantToText(expiresAt) },
    });
  });

  context.post('session/invitations/:token/accept', Nothing, session, async (_body, request, reply) => {
    const person = await context.signedIn(request, reply);
    const { token } = request.params as { token: string };
    const invitation = await openInvitation(context.settings, token);
    const answer = await accept(context, request, invitation, person);
    if (answer.code !== null) return sendAnswer(reply, answer);
    return context.show(reply, { ...(await context.present(person)), joined: invitation.orgId });
  });
}

/** Creates an organization for the signed-in person. */
function addOrganizationRoute(context: SessionContext): void {
  const { engine, reader, isOpen } = context.settings;
  const creations = new KeyedMutex();

  context.post('session/organizations', NewOrganization, organization, async ({ name }, request, reply) => {
    const person = await context.signedIn(request, reply);
    if (!(await mayCreateOrganization(reader, person.id, isOpen)))
      throw new Refused(refuse('registration_closed'));
    // The mutex is per node, so concurrent requests to several nodes may exceed the limit by a few.
    return creations.run(person.id, async () => {
      const refusal = await refuseTooManyOrganizations(reader, person.id);
      if (refusal) throw new Refused(refusal);
      const answer = await engine.submit({
        ...context.submission(
          request,
          formatId('organization', engine.idGenerator.organization(name)),
          person,
        ),
        kind: createOrganization,
        input: { name, personId: person.id },
      });
      return sendAnswer(reply, answer);
    });
  });
}

async function openInvitation(
  { reader, hashOfToken, wallClock }: SessionSettings,
  token: string,
): Promise<KnownInvitation> {
  const invitation = await findInvitation(reader, hashOfToken(token));
  if (!invitation || !isOpenInvitation(invitation, invitation.creator, wallClock()))
    throw new Refused(refuse('resource_not_found'));
  return invitation;
}

function accept(
  context: SessionContext,
  request: FastifyRequest,
  invitation: KnownInvitation,
  person: Person,
): Promise<Answer> {
  return context.settings.engine.submit({
    ...context.submission(request, invitation.orgId, person),
    kind: acceptInvitation,
    target: { resource: 'invitation', id: invitation.id, isClaimed: true },
    input: { id: invitation.id, personId: person.id, email: person.email },
  });
}
