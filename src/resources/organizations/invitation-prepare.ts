import { limits } from '../../kernel/limits.ts';
import type { Prepare } from '../../kernel/prepare.ts';
import type { CreateInvitation } from './invitation-machine.ts';
import { findOpenInvitations } from './invitation-store.ts';
import { invitationUrl } from './link-views.ts';

/** Generates the token with its link, and counts the open invitations. */
export const prepareCreateInvitation: Prepare<
  Pick<CreateInvitation, 'email' | 'role'>,
  CreateInvitation,
  undefined
> = async ({ requested, request, submit }, { reader, mutex, secrets, wallClock, publicUrl }) => {
  const { token, hash } = secrets.newInvitationToken();
  const { orgId } = request.context;
  return mutex.run(`invitations ${orgId}`, async () => {
    const open = await findOpenInvitations(reader, orgId, wallClock(), limits.invitationsPendingMax);
    return submit({ ...requested, hash, url: invitationUrl(publicUrl(), token), openCount: open.length });
  });
};
