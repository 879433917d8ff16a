/** How much may be taken: so much flows in each second, and so much of it is saved up at most. It begins full. */
export class Allowance {
  readonly #perSecond: number;
  readonly #max: number;
  #left: number;
  #at = 0;

  constructor(perSecond: number, max: number) {
    this.#perSecond = perSecond;
    this.#max = max;
    this.#left = max;
  }

  take(now: number): boolean {
    if (now > this.#at) {
      this.#left = Math.min(this.#max, this.#left + ((now - this.#at) * this.#perSecond) / 1_000);
      this.#at = now;
    }
    if (this.#left < 1) return false;
    this.#left -= 1;
    return true;
  }
}
