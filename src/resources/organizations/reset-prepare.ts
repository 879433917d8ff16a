import type { Prepare } from '../../kernel/prepare.ts';
import { findApplicationIds } from '../applications/store.ts';
import { type ResetOrganization, refuseUnpermitted } from './reset-commands.ts';

/** Finds the applications, because each has a clock, and flushes the request log, because the reset deletes it as well. */
export const prepareResetOrganization: Prepare<
  Pick<ResetOrganization, 'isPermitted'>,
  ResetOrganization,
  undefined
> = async ({ requested, request, submit, submitRefusal }, { reader, flush }) => {
  const refusal = refuseUnpermitted(requested);
  // Check before submitting, because a reset takes an exclusive lock on the organization.
  if (refusal) return submitRefusal(refusal);
  const [appIds] = await Promise.all([findApplicationIds(reader, request.context.orgId), flush.requestLog()]);
  return submit({ ...requested, appIds });
};
