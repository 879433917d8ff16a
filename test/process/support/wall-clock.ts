/** The clock of the machine, as a test may set it: everything in this process that asks for the time is told another. */
const Real = Date;
let offsetMs = 0;

class Shifted extends Real {
  constructor(...given: readonly unknown[]) {
    // Without arguments it is now; with them it is what they say, in any of the forms that there are.
    if (given.length === 0) super(Shifted.now());
    else super(...(given as [number]));
  }

  static override now(): number {
    return Real.now() + offsetMs;
  }
}

/** Before anything is made that keeps hold of `Date.now`. */
export function takeClock(): void {
  globalThis.Date = Shifted as DateConstructor;
}

export function setClock(ms: number): void {
  offsetMs = ms;
}

export function giveClockBack(): void {
  globalThis.Date = Real;
}
