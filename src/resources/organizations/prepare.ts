import type { Prepare } from '../../kernel/prepare.ts';
import { type DeleteOrganization, refuseName } from './machine.ts';
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
