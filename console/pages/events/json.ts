export type Parsed =
  | { readonly ok: true; readonly value: Readonly<Record<string, unknown>> }
  | { readonly ok: false; readonly words: string };

/** What a person typed as the data of an event. Whole numbers beyond 2^53 are refused, since reading them would change them. */
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
      words: `This is not JSON: ${thrown instanceof Error ? thrown.message : 'unreadable'}`,
    };
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    return { ok: false, words: 'The data is one JSON object, written in braces.' };
  }
  if (inexact !== undefined) {
    return { ok: false, words: `The number of “${inexact}” is too large to be exact. Write it as text.` };
  }
  return { ok: true, value: value as Readonly<Record<string, unknown>> };
}
