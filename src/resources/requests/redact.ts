import { type JsonRedactor, redactJsonPrefix } from './redact-json.ts';
import { isKeyName, redactQuery, redactTarget, redactUrls } from './redact-url.ts';

/**
 * Removes keys, secrets, passwords and card numbers from texts before they are stored in the request log. Fields are checked by
 * name, and all values by pattern. In doubt a value is hidden: its sender knows it anyway.
 */
const hidden = '[redacted]';
const bytesMax = 16 * 1_024;
// Scans more than is stored, so that a secret that the scan limit cuts in two is outside the stored part.
const charsReadMax = 2 * bytesMax;
// Deeper than any accepted body. A refused body may be nested deeper than the stack allows.
const depthMax = 40;
// A smaller number is a limit or a count, whatever its name suggests: `authorizationDays`.
const smallNumber = 1_000;

/** `headers` are the custom headers of a webhook. */
const secretName = /secret|passw|pwd|token|authorization|credential|cvc|cvv|^headers$/i;
const cardName = /^(?:card_?|pan_?)?number$|^pan$/i;
const instant = /^\d{4}-\d{2}-\d{2}T[\d:.]+(?:Z|[+-]\d{2}:\d{2})$/;
const cardDigits = /^\d{12,19}$/;

/**
 * 13 to 19 digits, as in a card number, grouped or not. Not a part of an identifier, a UUID or a decimal fraction, and not 13
 * digits that begin with 1: no card number has that form, but every timestamp in milliseconds until 2033 does.
 */
const cardRun = /(?<![\w.-])(?!1\d{12}(?!\d))\d(?:[ -]?\d){12,18}(?![\w-])/g;
// A long segment below /console/ is the token of an invitation or of a reset, unless it is an id or a name such as
// developer_api_payments: a random token has digits or capitals.
const links =
  /(\/console\/(?:[^\s"]{0,200}?[/?#=&])?)(?!(?:[a-z]{3}_[0-7][0-9a-z]{25}|[a-z]+(?:_[a-z]+)+)(?![\w-]))[\w-]{20,}/g;
const scheme = /\b(Bearer|Basic) +[\w.~+/=-]{8,}/gi;

const secretTerms =
  /secret|passw|pwd|token|authorization|credential|cvc|cvv|key"|bearer|basic |sbk_|whsec_|"pan"|"headers"/i;
// Written out: a counted group took nine times as long.
const twelveDigits = new RegExp(String.raw`\d${String.raw`[ -]?\d`.repeat(11)}`);

/**
 * For most texts this check shows that there is nothing to redact: about 6 µs for a payment, where parsing it and checking each
 * field takes about 40. It includes escapes, because an escape could hide a name. One expression with all alternatives took twice
 * as long, because alternatives of one or two characters prevent the search from skipping.
 */
function isSuspicious(text: string): boolean {
  return (
    text.includes('\\u') ||
    text.includes('\0') ||
    text.includes('://') ||
    text.includes('/console/') ||
    twelveDigits.test(text) ||
    secretTerms.test(text)
  );
}

/**
 * Returns a body in the form to store: without secrets, and cut. A request body that is not valid JSON is stored up to the first
 * invalid character, because the rest could contain a secret in an unknown notation.
 */
export function redactBody(text: string, origin: 'request' | 'response' = 'request'): string {
  const scanned = text.length > charsReadMax ? text.slice(0, charsReadMax) : text;
  // Sandbank's own responses are valid JSON or CSV.
  const isTrusted = origin === 'response';
  if (isTrusted && !isSuspicious(scanned)) return cut(scanned);
  const parsed = scanned === text ? parse(text) : undefined;
  if (parsed === undefined)
    return isTrusted && !scanned.startsWith('{') ? cut(redactText(scanned)) : redactPrefix(text, scanned);
  return cut(isSuspicious(scanned) ? JSON.stringify(redactValue(parsed.value, depthMax)) : scanned);
}

/** Redacts a path, a URL query, a header or a log line. */
export function redactLine(text: string, lengthMax: number): string {
  const scanned = text.length > 2 * lengthMax ? text.slice(0, 2 * lengthMax) : text;
  const redacted = redactPathOrQuery(redactText(scanned));
  return redacted.length > lengthMax ? redacted.slice(0, lengthMax) : redacted;
}

/** Redacts a path or a query. A line with blanks is neither, but for example an error message. */
function redactPathOrQuery(line: string): string {
  if (/\s/.test(line)) return line;
  if (line.startsWith('/')) return redactTarget(line);
  return line.includes('://') ? line : redactQuery(line);
}

/** Redacts incomplete JSON or text that is not JSON. */
function redactPrefix(text: string, scanned: string): string {
  const { redacted, read } = redactJsonPrefix(scanned, redactor);
  const left = text.length - read;
  if (scanned !== text || left === 0) return cut(redacted);
  return cut(`${redacted}[${left} characters not stored: not valid JSON]`);
}

const redactor: JsonRedactor = {
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
  // PostgreSQL cannot store U+0000.
  return redactPatterns(text).replaceAll('\0', '\ufffd');
}

function redactPatterns(text: string): string {
  if (!isSuspicious(text)) return text;
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

/** Hides the value of a field with a secret name, except for parts that cannot be secret: timestamps and small numbers. */
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
  const redacted = text.replace(cardRun, masked);
  return redacted === text ? value : redacted;
}

function masked(digits: string): string {
  const all = digits.replace(/[ -]/g, '');
  return '*'.repeat(all.length - 4) + all.slice(-4);
}

/** Cuts to the maximum number of bytes, and not inside a character. */
function cut(text: string): string {
  if (text.length * 3 <= bytesMax) return text;
  const bytes = Buffer.from(text);
  if (bytes.length <= bytesMax) return text;
  let end = bytesMax;
  while (((bytes[end] ?? 0) & 0xc0) === 0x80) end -= 1;
  return bytes.toString('utf8', 0, end);
}
