import { noApplication } from '../../kernel/ids.ts';
import { limits } from '../../kernel/limits.ts';
import type { Prepare } from '../../kernel/prepare.ts';
import type { CreateFaultPlan } from './machine.ts';
import { countActivePlans } from './store.ts';

type Requested = Pick<CreateFaultPlan, 'fields' | 'isPointless'> & { readonly seed: number | undefined };

/** Chooses a seed if the client sends none, and counts the active plans. */
export const prepareCreateFaultPlan: Prepare<Requested, CreateFaultPlan, undefined> = (
  { requested: { fields, seed, isPointless }, request, submit },
  { reader, ids, mutex },
) => {
  const { orgId, appId, suffix } = request.context;
  return mutex.run(`fault plans ${appId ?? ''}`, async () => {
    const others = await countActivePlans(reader, orgId, appId ?? noApplication);
    const drawn = Math.floor(ids.fraction(`seed ${suffix}`) * (limits.faultSeedMax + 1));
    return submit({ fields, seed: seed ?? drawn, others, isPointless });
  });
};
