import type { Engine } from '../engine/engine.ts';
import { KeyedMutex } from '../engine/keyed-mutex.ts';
import { limits } from '../kernel/limits.ts';
import type { Reader } from '../kernel/route.ts';
import { type CreateFaultPlan, createFaultPlan } from '../resources/fault-plans/machine.ts';
import { countActivePlans } from '../resources/fault-plans/store.ts';
import type { Errand } from './webhook-errands.ts';

export interface FaultErrandsSettings {
  readonly engine: Engine;
  readonly reader: Reader;
}

/** What a fault plan needs from outside, because deciding is pure: a seed, and how many there are already. */
export function faultErrands({ engine, reader }: FaultErrandsSettings): ReadonlyMap<string, Errand> {
  const mutex = new KeyedMutex();

  const create: Errand = (submission) => {
    const { fields, seed, isPointless } = submission.input as Pick<
      CreateFaultPlan,
      'fields' | 'isPointless'
    > & {
      seed?: number;
    };
    const { orgId, appId, suffix } = submission.context;
    // Nodes do not wait for each other: a limit may be passed by a few.
    return mutex.run(appId ?? '', async () => {
      const others = await countActivePlans(reader, orgId, appId ?? '');
      const drawn = Math.floor(engine.idGenerator.fraction(`seed ${suffix}`) * (limits.faultSeedMax + 1));
      const input: CreateFaultPlan = { fields, seed: seed ?? drawn, others, isPointless };
      return engine.submit({ ...submission, input });
    });
  };

  return new Map([[createFaultPlan.name, create]]);
}
