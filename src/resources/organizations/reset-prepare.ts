import type { Prepare } from '../../kernel/prepare.ts';
import { findApplicationIds } from '../applications/store.ts';
import { refuseName } from './machine.ts';
import { type ResetOrganization, refuseUnpermitted } from './reset-commands.ts';
import { organizationsTable } from './table.ts';

/** Finds the applications, because each has a clock, and flushes the request log, because the reset deletes it as well. */
export const prepareResetOrganization: Prepare<
  Omit<ResetOrganization, 'appIds'>,
  ResetOrganization,
  undefined
> = async ({ requested, request, submit, submitRefusal }, { reader, flush }) => {
  const { orgId } = request.context;
  const organization = await reader.byKey(organizationsTable, orgId, orgId);
  // Check before submitting, because a reset takes an exclusive lock on the organization.
  const refusal = refuseUnpermitted(requested) ?? (organization && refuseName(organization, requested.name));
  if (refusal) return submitRefusal(refusal);
  const [appIds] = await Promise.all([findApplicationIds(reader, orgId), flush.requestLog()]);
  return submit({ ...requested, appIds });
};
