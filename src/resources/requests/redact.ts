import { type JsonJudge, redactJsonPrefix } from './redact-json.ts';
import { isKeyName, redactQuery, redactTarget, redactUrls } from './redact-url.ts';

/**
 * Takes out of texts what must not be read again in the request log: keys, secrets, passwords, card numbers. Fields are judged
 * by their names, and everything by what it looks like. It rather hides too much: what was sent is known to who sent it.
 */
const hidden = '[redacted]';
const bytesMax = 16 * 1_024;
// What is looked at: more than is kept, so that what is cut in two at the end of it is not in what is kept.
const charsReadMax = 2 * bytesMax;
// Deeper than any body that is accepted; a refused one may be deeper than the stack.
const depthMax = 40;
// A number this small is a limit or a count, whatever its name says: `authorizationDays`.
const smallNumber = 1_000;

const secretName = /secret|passw|pwd|token|authorization|credential|cvc|cvv/i;
const cardName = /^(?:card_?|pan_?)?number$|^pan$/i;
const instant = /^\d{4}-\d{2}-\d{2}T[\d:.]+(?:Z|[+-]\d{2}:\d{2})$/;
const cardDigits = /^\d{12,19}$/;

/**
 * A run of 13 to 19 digits as cards have them, in groups or not. Not part of a word, of a UUID or of a decimal fraction; and
 * not 13 digits that begin with 1: no card has those, and every instant in milliseconds until 2033 does.
 */
const cardRun = /(?<![\w.-])(?!1\d{12}(?!\d))\d(?:[ -]?\d){12,18}(?![\w-])/g;
const links = /(\/console\/(?:[^\s"]{0,200}?[/?#=&])?)(?![a-z]{3}_[0-7][0-9a-z]{25}(?![\w-]))[\w-]{20,}/g;
const scheme = /\b(Bearer|Basic) +[\w.~+/=-]{8,}/gi;

// One check decides for most bodies that there is nothing to do: about 4 µs for a payment, where reading it as JSON and judging
// each field takes about 40. An escape could hide a name from it.
const suspicious =
  /secret|passw|pwd|token|authorization|credential|cvc|cvv|key"|bearer|basic |sbk_|whsec_|"pan"|number"\s*:\s*"?\d(?:[ -]?\d){11}|\/console\/|:\/\/|\\u|\0|\d(?:[ -]?\d){12}/i;

/**
 * A body as it may be stored: without secrets, and cut. A request body that is not valid JSON is stored up to the first character that
 * is not JSON, token by token, because anything behind it could be a secret in a notation that nothing here knows.
 */
export function redactBody(text: string, origin: 'request' | 'response' = 'request'): string {
  const near = text.length > charsReadMax ? text.slice(0, charsReadMax) : text;
  // Our own responses are valid JSON or CSV.
  const isTrusted = origin === 'response';
  if (isTrusted && !suspicious.test(near)) return cut(near);
  const parsed = near === text ? parse(text) : undefined;
  if (parsed === undefined)
    return isTrusted && !near.startsWith('{') ? cut(redactText(near)) : redactPrefix(text, near);
  return cut(suspicious.test(near) ? JSON.stringify(redactValue(parsed.value, depthMax)) : near);
}

/** A path, the query of a URL, a header, or a line of a log. */
export function redactLine(text: string, lengthMax: number): string {
  const near = text.length > 2 * lengthMax ? text.slice(0, 2 * lengthMax) : text;
  const shown = redactPlace(redactText(near));
  return shown.length > lengthMax ? shown.slice(0, lengthMax) : shown;
}

/** A path or a query. A message of an error is neither: it has blanks. */
function redactPlace(line: string): string {
  if (/\s/.test(line)) return line;
  if (line.startsWith('/')) return redactTarget(line);
  return line.includes('://') ? line : redactQuery(line);
}

/** Incomplete JSON, or text that is not JSON. */
function redactPrefix(text: string, near: string): string {
  const { shown, read } = redactJsonPrefix(near, judge);
  const left = text.length - read;
  if (near !== text || left === 0) return cut(shown);
  return cut(`${shown}[${left} characters not stored: not valid JSON]`);
}

const judge: JsonJudge = {
  isSecret: (name) => secretName.test(name),
  name: redactPatterns,
  value: (value, name, isHidden) => (isHidden ? hide(value, 0) : redactMember(name, value, 0)),
};

function parse(text: string): { readonly value: unknown } | undefined {
  try {
    return { value: JSON.parse(text) };
  } catch {
    return undefined;
  }
}

function redactText(text: string): string {
  // PostgreSQL stores no U+0000.
  return redactPatterns(text).replaceAll('\0', '\ufffd');
}

function redactPatterns(text: string): string {
  if (!suspicious.test(text)) return text;
  return redactUrls(
    text
      .replace(/sbk_sandbox_[0-9A-Za-z]+/g, `sbk_sandbox_${hidden}`)
      .replace(/whsec_[\w+/=%-]+/g, `whsec_${hidden}`)
      .replace(scheme, `$1 ${hidden}`)
      .replace(links, `$1${hidden}`)
      .replace(cardRun, masked),
  );
}

function redactValue(value: unknown, depth: number): unknown {
  if (typeof value === 'string') return redactPatterns(value);
  if (typeof value === 'number') return redactNumber(value);
  if (typeof value !== 'object' || value === null) return value;
  if (depth === 0) return hidden;
  if (Array.isArray(value)) return value.map((item) => redactValue(item, depth - 1));
  return Object.fromEntries(
    Object.entries(value).map(([name, member]) => [
      redactPatterns(name),
      redactMember(name, member, depth - 1),
    ]),
  );
}

function redactMember(name: string, member: unknown, depth: number): unknown {
  if (secretName.test(name)) return hide(member, depth);
  if (typeof member === 'string' && isKeyName(name)) return hidden;
  if (cardName.test(name) && (typeof member === 'string' || typeof member === 'number')) {
    const digits = String(member).replace(/[ -]/g, '');
    if (cardDigits.test(digits)) return masked(digits);
  }
  return redactValue(member, depth);
}

/** All that a field with such a name holds, but for what is plainly no secret. */
function hide(value: unknown, depth: number): unknown {
  if (typeof value === 'string') return instant.test(value) ? value : hidden;
  if (typeof value === 'number') return Math.abs(value) < smallNumber ? value : hidden;
  if (typeof value !== 'object' || value === null) return value;
  if (depth === 0) return hidden;
  if (Array.isArray(value)) return value.map((item) => hide(item, depth - 1));
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, hide(member, depth - 1)]));
}

function redactNumber(value: number): unknown {
  const text = String(value);
  const shown = text.replace(cardRun, masked);
  return shown === text ? value : shown;
}

function masked(digits: string): string {
  const all = digits.replace(/[ -]/g, '');
  return '*'.repeat(all.length - 4) + all.slice(-4);
}

/** Cut by bytes, and not inside a character. */
function cut(text: string): string {
  if (text.length * 3 <= bytesMax) return text;
  const bytes = Buffer.from(text);
  if (bytes.length <= bytesMax) return text;
  let end = bytesMax;
  while (((bytes[end] ?? 0) & 0xc0) === 0x80) end -= 1;
  return bytes.toString('utf8', 0, end);
}
