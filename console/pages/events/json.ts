export type Parsed =
  | { readonly ok: true; readonly value: Readonly<Record<string, unknown>> }
  | { readonly ok: false; readonly error: string };

/** Parses the event data that a person typed. Integers beyond 2^53 are rejected, because parsing would change them. */
export function parseData(text: string): Parsed {
  let inexact: string | undefined;
  let value: unknown;
  try {
    value = JSON.parse(text, (key, one: unknown) => {
      if (typeof one === 'number' && Number.isInteger(one) && !Number.isSafeInteger(one)) inexact = key;
      return one;
    });
  } catch (thrown) {
    return {
      ok: false,
      error: `Invalid JSON: ${thrown instanceof Error ? thrown.message : 'unreadable'}`,
    };
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    return { ok: false, error: 'The data must be a JSON object.' };
  }
  if (inexact !== undefined) {
    return { ok: false, error: `The number in “${inexact}” is too large to be exact. Write it as a string.` };
  }
  return { ok: true, value: value as Readonly<Record<string, unknown>> };
}
