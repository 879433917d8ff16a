import type { FastifyRequest } from 'fastify';
import { Type } from 'typebox';
import type { Ceremony } from '../identity/passkeys.ts';
import { refuse } from '../kernel/errors.ts';
import { limits } from '../kernel/limits.ts';
import { instantToText } from '../kernel/list.ts';
import { strict, text } from '../kernel/schema.ts';
import { CurrentPassword, Nothing } from './console-account.ts';
import { consoleAnswers } from './console-answers.ts';
import { visitorOf } from './console-routes.ts';
import { Refused } from './refused.ts';
import type { SessionContext } from './session-context.ts';

const { session, passkeys, passkeyOptions } = consoleAnswers;

/** The response of a browser to a WebAuthn ceremony. Better Auth checks its content. */
const CeremonyResponse = Type.Object(
  { id: text(2_000), response: Type.Object({}) },
  { additionalProperties: true },
);
const WithPassword = strict({ password: CurrentPassword });
const NewPasskey = strict({ name: text(limits.nameLengthMax), response: CeremonyResponse });
const SignIn = strict({ response: CeremonyResponse });

/** Passkeys: signing in with one, and those of the signed-in person. */
export function addPasskeyRoutes(context: SessionContext): void {
  addPasskeySignIn(context);
  const { people } = context.settings;

  context.get('session/passkeys', passkeys, async (request, reply) => {
    await context.signedIn(request, reply);
    const data = (await people.passkeys.list(visitorOf(request))).map(({ createdAt, ...passkey }) => ({
      ...{ object: 'passkey', sandbox: true, status: 'active' },
      ...{ ...passkey, createdAt: instantToText(createdAt) },
    }));
    return context.show(reply, {
      ...{ object: 'list', sandbox: true, status: 'ok' },
      ...{ data, hasMore: false, nextCursor: null },
    });
  });

  context.post(
    'session/passkeys/options',
    WithPassword,
    passkeyOptions,
    async ({ password }, request, reply) => {
      const person = await context.signedIn(request, reply);
      const options = context.take(reply, await people.createPasskey(password, person, visitorOf(request)));
      return context.show(reply, { object: 'passkey_options', sandbox: true, status: 'ok', options });
    },
  );

  context.post('session/passkeys', NewPasskey, session, async ({ name, response }, request, reply) => {
    const person = await context.signedIn(request, reply);
    const visitor = visitorOf(request);
    const outcome = await people.passkeys.add(name, response as Ceremony, originOf(request), visitor);
    context.take(reply, outcome);
    await context.note(request, person, 'add_passkey');
    return context.showSession(reply, person);
  });

  context.post('session/passkeys/:id/remove', Nothing, session, async (_body, request, reply) => {
    const person = await context.signedIn(request, reply);
    const { id } = request.params as { id: string };
    context.take(reply, await people.passkeys.remove(id, visitorOf(request)));
    await context.note(request, person, 'remove_passkey');
    return context.showSession(reply, person);
  });
}

function addPasskeySignIn(context: SessionContext): void {
  const { people } = context.settings;

  context.post('session/passkey_options', Nothing, passkeyOptions, async (_body, request, reply) => {
    context.limitAnonymous(request);
    const options = context.take(reply, await people.passkeys.signInOptions(visitorOf(request)));
    return context.show(reply, { object: 'passkey_options', sandbox: true, status: 'ok', options });
  });

  context.post('session/passkey', SignIn, session, async ({ response }, request, reply) => {
    context.limitAnonymous(request);
    const visitor = visitorOf(request);
    const outcome = await people.signInWithPasskey(response as Ceremony, originOf(request), visitor);
    const person = context.take(reply, outcome);
    await context.note(request, person, 'sign_in');
    return context.showSession(reply, person);
  });
}

/** The origin of the page, which was compared with the address of this server. Browsers send it with every write. */
function originOf({ headers: { origin } }: FastifyRequest): string {
  if (origin === undefined) throw new Refused(refuse('passkey_failed'));
  return origin;
}
