import type { Prepare } from '../../kernel/prepare.ts';

/** Flushes the counts of this node, so that the reset deletes them, too. */
export const prepareResetCoverage: Prepare<null, null, undefined> = async (
  { requested, submit },
  { flush },
) => {
  await flush.coverage();
  return submit(requested);
};
