import { randomFillSync } from 'node:crypto';
import { V7Generator } from 'uuidv7';
import { encodeSuffix } from '../kernel/ids.ts';

/** Random numbers from a pool: a system call per number would cost more than the rest of the id. */
class PooledRandom {
  readonly #pool = new Uint32Array(1_024);
  #next = this.#pool.length;

  nextUint32(): number {
    if (this.#next >= this.#pool.length) {
      randomFillSync(this.#pool);
      this.#next = 0;
    }
    const value = this.#pool[this.#next] ?? 0;
    this.#next += 1;
    return value;
  }
}

const generator = new V7Generator(new PooledRandom());

/** A new id suffix: a UUIDv7 in base32, always greater than the previous one of this process. */
export function newSuffix(): string {
  return encodeSuffix(generator.generate().bytes);
}
