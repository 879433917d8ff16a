import { assert } from '../../kernel/assert.ts';
import { refuse } from '../../kernel/errors.ts';
import { limits } from '../../kernel/limits.ts';
import type { Prepare } from '../../kernel/prepare.ts';
import { resetUrl } from './link-views.ts';
import type { ResetMember } from './member-machine.ts';
import { findMembers } from './member-store.ts';

/** Creates the password reset link. */
export const prepareResetMember: Prepare<Pick<ResetMember, 'id'>, ResetMember, undefined> = async (
  { requested: { id }, request: { context }, submit, submitRefusal },
  { reader, people, publicUrl },
) => {
  const members = await findMembers(reader, context.orgId, limits.membersMax);
  const member = members.find((candidate) => candidate.id === id);
  if (!member) return submitRefusal(refuse('resource_not_found'));
  const { actor } = context;
  assert(actor.kind === 'person', 'only a person creates a link for a member');
  const link = await people.createResetLink(member.email, actor.id);
  if (!link) return submitRefusal(refuse('reset_not_allowed'));
  return submit({ id, url: resetUrl(publicUrl(), link.token), expiresAt: link.expiresAt });
};
