/** Bugs of our own are asserted; invalid input is returned as a refusal. A failed assertion becomes a 500. */
export function assert(condition: unknown, message: string): asserts condition {
  if (!condition) throw new AssertionFailed(message);
}

/** The default branch of a switch over a union: it compiles only while every case is handled. */
export function unreachable(value: never, what: string): never {
  throw new AssertionFailed(`${what} is not handled: ${String(value)}`);
}

export class AssertionFailed extends Error {
  override readonly name = 'AssertionFailed';
}
