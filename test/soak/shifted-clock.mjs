// Loaded with `--import` into every server process of a soak: the wall clock of the process is ahead of the machine by the milliseconds
// in the file SOAK_CLOCK_FILE. It reads the file ten times a second, so all nodes jump together.
//
// A full garbage collection runs every 30 seconds, so that samples show what the process retains. V8 alone lets garbage grow to more than
// the live heap, over many minutes, like a leak.
import { readFileSync } from 'node:fs';

const file = process.env.SOAK_CLOCK_FILE ?? '';
const pollMs = 100;
const collectMs = 30_000;
const RealDate = Date;
let offsetMs = readOffset();

setInterval(() => {
  offsetMs = readOffset();
}, pollMs).unref();

setInterval(() => globalThis.gc?.(), collectMs).unref();

globalThis.Date = class extends RealDate {
  /** @param {any[]} args */
  constructor(...args) {
    if (args.length === 0) super(RealDate.now() + offsetMs);
    else super(.../** @type {[number]} */ (args));
  }

  static now() {
    return RealDate.now() + offsetMs;
  }
};

function readOffset() {
  return Number(readFileSync(file, 'utf8'));
}
