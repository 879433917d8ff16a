import { Type } from 'typebox';
import { limits } from '../kernel/limits.ts';
import { instantToText } from '../kernel/list.ts';
import { PersonEmail, strict, text } from '../kernel/schema.ts';
import { consoleAnswers } from './console-answers.ts';
import { visitorOf } from './console-routes.ts';
import type { SessionContext } from './session-context.ts';

const { session, devices, twoFactor, backupCodes, history } = consoleAnswers;

export const Password = Type.String({
  minLength: limits.passwordLengthMin,
  maxLength: limits.passwordLengthMax,
});
/** A password that is only compared: it may be shorter than the current minimum. */
export const CurrentPassword = text(limits.passwordLengthMax);
export const Nothing = strict({});

const Profile = strict({ name: text(limits.nameLengthMax) });
const NewEmail = strict({ email: PersonEmail, password: CurrentPassword });
const NewPassword = strict({ currentPassword: CurrentPassword, newPassword: Password });
const WithPassword = strict({ password: CurrentPassword });
const Code = strict({ code: text(12) });

/** Events of the security history in one response. */
const historyMax = 100;

/** The account of the signed-in person: profile, devices, second factor and security history. */
export function addAccountRoutes(context: SessionContext): void {
  addProfileRoutes(context);
  addDeviceRoutes(context);
  addTwoFactorRoutes(context);
  addHistoryRoute(context);
}

/** Name, address and password. */
function addProfileRoutes(context: SessionContext): void {
  const { people } = context.settings;

  context.post('session/profile', Profile, session, async ({ name }, request, reply) => {
    const person = await context.signedIn(request, reply);
    context.take(reply, await people.rename(name, visitorOf(request)));
    await context.note(request, person, 'rename');
    return context.showSession(reply, { ...person, name });
  });

  context.post('session/email', NewEmail, session, async (change, request, reply) => {
    const person = await context.signedIn(request, reply);
    const signedIn = { person, sessionId: request.sessionId };
    const changed = context.take(reply, await people.changeEmail(change, signedIn, visitorOf(request)));
    await context.note(request, person, 'change_email');
    return context.showSession(reply, changed);
  });

  context.post('session/password', NewPassword, session, async (passwords, request, reply) => {
    const person = await context.signedIn(request, reply);
    context.take(reply, await people.changePassword(passwords, person, visitorOf(request)));
    await context.note(request, person, 'change_password');
    return context.showSession(reply, person);
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

/** Enabling and disabling the second factor, and its backup codes. */
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
    const signedIn = await context.signedIn(request, reply);
    const confirmed = await people.confirmTwoFactor(code, signedIn, visitorOf(request));
    const person = context.take(reply, confirmed);
    await context.note(request, person, 'enable_two_factor');
    return context.showSession(reply, { ...person, hasTwoFactor: true });
  });

  context.post(
    'session/two_factor/backup_codes',
    WithPassword,
    backupCodes,
    async ({ password }, request, reply) => {
      const person = await context.signedIn(request, reply);
      const outcome = await people.regenerateBackupCodes(password, person, visitorOf(request));
      const codes = context.take(reply, outcome);
      await context.note(request, person, 'regenerate_backup_codes');
      return context.show(reply, { object: 'backup_codes', sandbox: true, status: 'ok', backupCodes: codes });
    },
  );

  context.post('session/two_factor/disable', WithPassword, session, async ({ password }, request, reply) => {
    const person = await context.signedIn(request, reply);
    context.take(reply, await people.disableTwoFactor(password, person, visitorOf(request)));
    await context.note(request, person, 'disable_two_factor');
    return context.showSession(reply, { ...person, hasTwoFactor: false });
  });
}

/** The newest events of the person's own account. */
function addHistoryRoute(context: SessionContext): void {
  context.get('session/history', history, async (request, reply) => {
    const person = await context.signedIn(request, reply);
    const events = await context.settings.people.history.newest(person.id, historyMax);
    const data = events.map(({ at, ...event }) => ({
      ...{ object: 'account_event', sandbox: true, status: 'ok' },
      ...{ ...event, at: instantToText(at) },
    }));
    return context.show(reply, {
      ...{ object: 'list', sandbox: true, status: 'ok' },
      ...{ data, hasMore: false, nextCursor: null },
    });
  });
}
