/** Which of what is there a random command aims at. */

/** What moves money is tried more often than what ends a payment without any. */
export function likely(actions: readonly string[]): readonly string[] {
  return actions.flatMap((action) => (/capture|refund|dispute/.test(action) ? [action, action] : [action]));
}

/** Mostly one that still has a way to go: a record at its end only refuses. */
export function pick<Item>(
  at: number,
  all: readonly Item[],
  isAlive: (item: Item) => boolean,
): Item | undefined {
  const alive = all.filter(isAlive);
  const among = at > 1 && alive.length > 0 ? alive : all;
  return among[at % Math.max(1, among.length)];
}
