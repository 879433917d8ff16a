/**
 * Facts and rules: a fact is "this column of this relation has only values that the caller supplied", and a rule derives a fact
 * from others. An organization column with this fact is restricted.
 */
export interface Rule {
  readonly conclusion: string;
  readonly premises: readonly string[];
  /** True for the induction step of a recursive query, which must be withdrawn if the recursive part does not preserve the fact. */
  readonly preservedBy?: readonly string[] | null;
}

/** The facts that an expression needs to have only supplied values; null when no facts are enough. */
export type Premises = readonly string[] | null;

export const both = (a: Premises, b: Premises): Premises =>
  a === null || b === null ? null : [...new Set([...a, ...b])];

/** The least fixed point. A recursive query is assumed to preserve its facts; where it does not, the assumption is withdrawn. */
export function derive(rules: readonly Rule[]): ReadonlySet<string> {
  let assumed = rules;
  for (;;) {
    const facts = closure(assumed);
    const refuted = assumed.filter(
      ({ preservedBy }) =>
        preservedBy === null || preservedBy?.some((premise) => !facts.has(premise)) === true,
    );
    if (refuted.length === 0) return facts;
    assumed = assumed.filter((rule) => !refuted.includes(rule));
  }
}

function closure(rules: readonly Rule[]): ReadonlySet<string> {
  const facts = new Set<string>();
  for (let before = -1; before !== facts.size; ) {
    before = facts.size;
    for (const { conclusion, premises } of rules)
      if (premises.every((premise) => facts.has(premise))) facts.add(conclusion);
  }
  return facts;
}
