/** The options of a select. With its type argument, a missing or unknown value is a compile error. */
export function optionsOf<Value extends string>(labels: Readonly<Record<Value, string>>) {
  return valuesOf(labels).map((value) => ({ value, label: labels[value] }));
}

/** The keys of a record with one entry for each value of a type, in order. */
export function valuesOf<Value extends string>(all: Readonly<Record<Value, unknown>>): readonly Value[] {
  return Object.keys(all) as Value[];
}
