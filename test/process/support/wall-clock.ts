/** Replaces the wall clock of this process with one that a test can shift. */
const RealDate = Date;
let offsetMs = 0;

class ShiftedDate extends RealDate {
  constructor(...args: readonly unknown[]) {
    // Without arguments the current time; with arguments any form that `Date` accepts.
    if (args.length === 0) super(ShiftedDate.now());
    else super(...(args as [number]));
  }

  static override now(): number {
    return RealDate.now() + offsetMs;
  }
}

/** Call it before creating objects that hold a reference to `Date.now`. */
export function replaceClock(): void {
  globalThis.Date = ShiftedDate as DateConstructor;
}

export function setClock(ms: number): void {
  offsetMs = ms;
}

export function restoreClock(): void {
  globalThis.Date = RealDate;
}
