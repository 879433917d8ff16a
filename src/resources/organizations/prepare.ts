import { assert } from '../../kernel/assert.ts';
import { limits } from '../../kernel/limits.ts';
import type { Prepare } from '../../kernel/prepare.ts';
import { type DeleteOrganization, type RequireTwoFactor, refuseName } from './machine.ts';
import { findMembers } from './member-store.ts';
import { organizationsTable } from './table.ts';

/** Flushes the buffers of this node, so that nothing is written for the organization after its deletion. */
export const prepareDeleteOrganization: Prepare<DeleteOrganization, DeleteOrganization, undefined> = async (
  { requested, request, submit, submitRefusal },
  { reader, flush },
) => {
  const { orgId } = request.context;
  const organization = await reader.byKey(organizationsTable, orgId, orgId);
  // Check before submitting: the deletion locks the organization, and its other writers would have to wait.
  const refusal = organization && refuseName(organization, requested.name);
  if (refusal) return submitRefusal(refusal);
  await Promise.all([flush.requestLog(), flush.coverage()]);
  return submit(requested);
};

/** Finds whether the owner has a second factor. */
export const prepareRequireTwoFactor: Prepare<
  Pick<RequireTwoFactor, 'isRequired'>,
  RequireTwoFactor,
  undefined
> = async ({ requested, request: { context }, submit }, { reader }) => {
  const { orgId, actor } = context;
  assert(actor.kind === 'person', 'only a person requires a second factor');
  const members = await findMembers(reader, orgId, limits.membersMax);
  const owner = members.find(({ personId }) => personId === actor.id);
  return submit({ ...requested, hasTwoFactor: owner?.hasTwoFactor ?? false });
};
