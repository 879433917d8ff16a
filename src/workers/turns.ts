import { KeyedMutex } from '../engine/keyed-mutex.ts';

/** Work that must not overlap, by what it is about. */
export class Turns extends KeyedMutex {
  take<Result>(key: string, work: () => Promise<Result>): Promise<Result> {
    return this.run(key, work);
  }
}
