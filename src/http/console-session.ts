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
import { recordEvent } from './account-trail.ts';
import { addAccountRoutes, CurrentPassword, Nothing, Password } from './console-account.ts';
import { consoleAnswers } from './console-answers.ts';
import { addPasskeyRoutes } from './console-passkeys.ts';
import { personOf, visitorOf } from './console-routes.ts';
import { Refused } from './refused.ts';
import { sendAnswer } from './send.ts';
import { SessionContext, type SessionSettings } from './session-context.ts';

const { session, invitationOffer, organization } = consoleAnswers;

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
const Reset = strict({ token: Token, newPassword: Password });
const NewOrganization = strict({ name: Name });

/** The console routes outside any organization: session, account, devices, second factor and invitations. */
export function addSessionRoutes(app: FastifyInstance, settings: SessionSettings): void {
  const context = new SessionContext(app, settings);
  addSessionRoute(context);
  addSignInRoutes(context);
  addAccountRoutes(context);
  addPasskeyRoutes(context);
  addInvitationRoutes(context);
  addOrganizationRoute(context);
}

/** The signed-in person and their organizations. */
function addSessionRoute(context: SessionContext): void {
  context.get('session', session, async (request, reply) => {
    const person = await personOf(context.settings, request, reply);
    const hasEnded = person === null && context.settings.people.hasSessionCookie(visitorOf(request));
    return context.show(reply, { ...(await context.present(person)), hasEnded });
  });
}

/** Signing up, in and out, and choosing a new password with a link. */
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
      await recordEvent(people, request, person, 'sign_up');
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

  context.post('session/password_reset', Reset, session, async (reset, request, reply) => {
    context.limitAnonymous(request);
    const person = context.take(reply, await people.resetPassword(reset));
    await context.note(request, person, 'reset_password');
    return context.showSession(reply, null);
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
