import type { Engine } from '../engine/engine.ts';
import { KeyedMutex } from '../engine/keyed-mutex.ts';
import { refusedCommand, type Submission } from '../engine/submission.ts';
import { newApiKey, newInvitationToken } from '../engine/tokens.ts';
import type { ApplicationSettings } from '../kernel/application-settings.ts';
import { findCurrency } from '../kernel/currency.ts';
import { type Refusal, refuse } from '../kernel/errors.ts';
import { limits } from '../kernel/limits.ts';
import { isCidr } from '../kernel/networks.ts';
import type { Reader } from '../kernel/route.ts';
import type { Instant } from '../kernel/table.ts';
import {
  type ApiKeySettings,
  createApiKey,
  rotateApiKey,
  updateApiKey,
} from '../resources/api-keys/machine.ts';
import { countActiveKeys } from '../resources/api-keys/store.ts';
import { createApplication, updateApplication } from '../resources/applications/machine.ts';
import { countApplications } from '../resources/applications/store.ts';
import { createInvitation } from '../resources/organizations/invitation-machine.ts';
import { findOpenInvitations } from '../resources/organizations/invitation-store.ts';
import { resetMember } from '../resources/organizations/member-machine.ts';
import { findMembers } from '../resources/organizations/member-store.ts';
import type { Errand } from './webhook-errands.ts';

export interface ConsoleErrandsSettings {
  readonly engine: Engine;
  readonly reader: Reader;
  readonly wallClock: () => Instant;
  /** The address under which people know this server. */
  readonly publicUrl: () => string;
  readonly people: {
    /** Null when the creator has no right to it. */
    createResetLink(
      email: string,
      creatorId: string,
    ): Promise<{ readonly token: string; readonly expiresAt: Instant } | null>;
  };
}

/** What commands of the console need from outside, because deciding is pure: secrets, and how many there are already. */
export function consoleErrands(settings: ConsoleErrandsSettings): ReadonlyMap<string, Errand> {
  const { engine, reader, wallClock, publicUrl, people } = settings;

  const mutex = new KeyedMutex();
  const submit = (submission: Submission, more: object) =>
    engine.submit({ ...submission, input: { ...(submission.input as object), ...more } });
  const refused = (submission: Submission, refusal: Refusal) =>
    engine.submit({ ...submission, kind: refusedCommand(submission.kind.name, refusal), idempotency: null });

  const withKey: Errand = async (submission) => {
    const { orgId, appId } = submission.context;
    const { settings: asked } = submission.input as { settings?: ApiKeySettings };
    const refusal = refuseNetworks(asked?.allowedCidrs);
    if (refusal) return refused(submission, refusal);
    // Nodes do not wait for each other: a limit may be passed by a few.
    return mutex.run(appId ?? '', async () => {
      const others = await countActiveKeys(reader, orgId, appId ?? '', wallClock());
      return submit(submission, { made: newApiKey(), others });
    });
  };

  const changeKey: Errand = async (submission) => {
    const { patch } = submission.input as { patch: Partial<ApiKeySettings> };
    const refusal = refuseNetworks(patch.allowedCidrs);
    return refusal ? refused(submission, refusal) : engine.submit(submission);
  };

  const makeApplication: Errand = async (submission) => {
    const { terms } = submission.input as { terms: Partial<ApplicationSettings> };
    const refusal = refuseRates(terms.fxRates);
    if (refusal) return refused(submission, refusal);
    const { orgId } = submission.context;
    return mutex.run(orgId, async () =>
      submit(submission, { others: await countApplications(reader, orgId) }),
    );
  };

  const changeApplication: Errand = async (submission) => {
    const { patch } = submission.input as { patch: Partial<ApplicationSettings> };
    const refusal = refuseRates(patch.fxRates);
    return refusal ? refused(submission, refusal) : engine.submit(submission);
  };

  const invite: Errand = async (submission) => {
    const { token, hash } = newInvitationToken();
    const { orgId } = submission.context;
    return mutex.run(orgId, async () => {
      const open = await findOpenInvitations(reader, orgId, wallClock(), limits.invitationsPendingMax);
      return submit(submission, { hash, url: invitationUrl(publicUrl(), token), others: open.length });
    });
  };

  const linkReset: Errand = async (submission) => {
    const { id } = submission.input as { id: string };
    const members = await findMembers(reader, submission.context.orgId, limits.membersMax);
    const member = members.find((one) => one.id === id);
    if (!member) return refused(submission, refuse('resource_not_found'));
    const link = await people.createResetLink(member.email, submission.context.actor.id);
    if (!link) return refused(submission, refuse('reset_not_allowed'));
    return submit(submission, { url: resetUrl(publicUrl(), link.token), expiresAt: link.expiresAt });
  };

  return new Map([
    [resetMember.name, linkReset],
    [createApiKey.name, withKey],
    [rotateApiKey.name, withKey],
    [updateApiKey.name, changeKey],
    [createApplication.name, makeApplication],
    [updateApplication.name, changeApplication],
    [createInvitation.name, invite],
  ]);
}

export function invitationUrl(publicUrl: string, token: string): string {
  return `${publicUrl}/console/invitation/${token}`;
}

export function resetUrl(publicUrl: string, token: string): string {
  return `${publicUrl}/console/reset/${token}`;
}

function refuseNetworks(cidrs: readonly string[] = []): Refusal | undefined {
  const wrong = cidrs.findIndex((cidr) => !isCidr(cidr));
  if (wrong === -1) return undefined;
  return refuse('invalid_request', {
    message: `"${cidrs[wrong]}" is no network such as 10.0.0.0/8, and no address.`,
    param: `/allowedCidrs/${wrong}`,
  });
}

function refuseRates(rates: Readonly<Record<string, string>> = {}): Refusal | undefined {
  const unknown = Object.keys(rates)
    .flatMap((pair) => pair.split('/'))
    .find((code) => !findCurrency(code));
  if (unknown === undefined) return undefined;
  return refuse('unsupported_currency', {
    message: `"${unknown}" is no currency that is supported.`,
    param: '/fx/rates',
  });
}
