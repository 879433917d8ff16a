import { type Refusal, refuse } from '../kernel/errors.ts';
import { guessableTerms } from './guessable-terms.ts';

/** The person who chooses the password. */
interface Chooser {
  readonly email: string;
  readonly name: string;
}

/** Shorter parts of a name occur in other text by chance. */
const personalLengthMin = 4;
/** Distinct characters that must remain without guessable terms, sequences and repetitions. */
const remainingMin = 4;
/** Characters that ascend, descend or repeat. */
const runLengthMin = 4;

/**
 * The rule for a new password, beside its length, which the schemas of the routes check: it is not common, and contains neither
 * the email address nor the name of its person (NIST SP 800-63B, section 5.1.1.2). Needs no network and no file.
 */
export function refuseWeakPassword(password: string, chooser: Chooser, param: string): Refusal | undefined {
  const text = password.normalize('NFKC').toLowerCase().replace(/\s/g, '');
  if (personalParts(chooser).some((part) => text.includes(part)))
    return refuse('password_too_weak', {
      message: 'The password contains your name or email address. Choose another one.',
      param,
    });
  const rest = withoutYears(withoutRuns(text));
  const isCommon = [rest, withoutSubstitutions(rest)].some((one) => remainingOf(one) < remainingMin);
  return isCommon ? refuse('password_too_weak', { param }) : undefined;
}

/** The address, the part before the @, and the parts of both that are long enough to be recognized. */
function personalParts({ email, name }: Chooser): readonly string[] {
  const local = email.slice(0, email.lastIndexOf('@'));
  const names = `${local} ${name}`
    .normalize('NFKC')
    .toLowerCase()
    .split(/[^\p{L}\p{N}]+/u);
  const joined = name.normalize('NFKC').toLowerCase().replace(/\s/g, '');
  return [...names, joined, local.toLowerCase()].filter((part) => part.length >= personalLengthMin);
}

const substitutions: Readonly<Record<string, string>> = {
  ...{ '0': 'o', '1': 'i', '3': 'e', '4': 'a', '5': 's', '7': 't' },
  ...{ '@': 'a', $: 's', '!': 'i' },
};

function withoutSubstitutions(text: string): string {
  return text.replace(/[013457@$!]/g, (character) => substitutions[character] ?? character);
}

/** The number of distinct characters that are not part of something common. */
function remainingOf(text: string): number {
  let rest = text;
  // A space separates what remains, so that its parts do not form another term.
  for (const term of guessableTerms) rest = rest.replaceAll(term, ' ');
  return new Set(rest.replaceAll(' ', '')).size;
}

function withoutYears(text: string): string {
  return text.replace(/(?:19|20)\d\d/g, ' ');
}

function withoutRuns(text: string): string {
  let rest = '';
  for (let at = 0; at < text.length; ) {
    const length = runLengthAt(text, at);
    rest += length < runLengthMin ? text.charAt(at) : ' ';
    at += length < runLengthMin ? 1 : length;
  }
  return rest;
}

/** The length of the longest run that starts here: `1234`, `dcba` or `aaaa`. */
function runLengthAt(text: string, at: number): number {
  const step = text.charCodeAt(at + 1) - text.charCodeAt(at);
  if (![-1, 0, 1].includes(step)) return 1;
  let end = at + 1;
  while (end < text.length && text.charCodeAt(end) - text.charCodeAt(end - 1) === step) end += 1;
  return end - at;
}
