/** A number from 0 up to, but not including, 1. */
export type Random = () => number;

/** An integer from 0 up to, but not including, `bound`. */
export function below(random: Random, bound: number): number {
  return Math.floor(random() * bound);
}

export function pick<Item>(random: Random, items: readonly Item[]): Item {
  const item = items[below(random, items.length)];
  if (item === undefined) throw new Error('pick: the list is empty');
  return item;
}

/** Mostly small numbers, sometimes large ones. */
export function smallNumber(random: Random, max: number): number {
  return Math.min(max, Math.floor(2 ** (random() * Math.log2(max + 2))) - 1);
}
