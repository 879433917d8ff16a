/**
 * Redacts credentials in URLs: user information, values of secret query parameters, and path segments that resemble tokens, as in
 * incoming webhook URLs of chat services. All functions are linear in the length of their input.
 */
const hidden = '[redacted]';

const secretParameter = /secret|passw|pwd|token|auth|credential|cvc|cvv|^sig$|signature|^code$/i;
const keyName = /(?:^|[_-])(?:api|access|private|secret)?[_-]?key$/i;
// A Sandbank id is not a secret; another long segment of letters and digits may be one.
const ownId = /^[a-z]{3}_[0-7][0-9a-z]{25}$/;
const tokenLike = /^(?=[^\d]*\d)(?=[^a-z]*[a-z])[\w.~+-]{16,}$/i;
// The length limit of the scheme keeps the search linear in long runs of letters.
const url = /\b[a-z][a-z0-9+.-]{0,15}:\/\/[^\s"'<>\\]+/gi;

/** Whether a field or parameter with this name holds a secret. */
function isSecretParameter(name: string): boolean {
  return secretParameter.test(name) || keyName.test(name);
}

export function isKeyName(name: string): boolean {
  return keyName.test(name);
}

/** Redacts every URL in a text. */
export function redactUrls(text: string): string {
  return text.includes('://') ? text.replace(url, redactUrl) : text;
}

function redactUrl(text: string): string {
  const start = text.indexOf('://') + 3;
  const rest = text.slice(start);
  const end = rest.search(/[/?#]/);
  const authority = end === -1 ? rest : rest.slice(0, end);
  const at = authority.lastIndexOf('@');
  const host = at === -1 ? authority : `${hidden}${authority.slice(at)}`;
  return text.slice(0, start) + host + (end === -1 ? '' : redactTarget(rest.slice(end)));
}

/** Redacts the part after the host: path, query and fragment. A fragment can also contain parameters. */
export function redactTarget(text: string): string {
  const hash = text.indexOf('#');
  const [target, fragment] = hash === -1 ? [text, ''] : [text.slice(0, hash), text.slice(hash + 1)];
  const mark = target.indexOf('?');
  const [path, query] = mark === -1 ? [target, ''] : [target.slice(0, mark), target.slice(mark + 1)];
  const redacted = redactPath(path) + (mark === -1 ? '' : `?${redactQuery(query)}`);
  return hash === -1 ? redacted : `${redacted}#${redactQuery(fragment)}`;
}

function redactPath(path: string): string {
  return path
    .split('/')
    .map((segment) => (tokenLike.test(segment) && !ownId.test(segment) ? hidden : segment))
    .join('/');
}

/** Redacts parameters as in `a=b&token=c`; names may be percent-encoded. */
export function redactQuery(query: string): string {
  return query
    .split('&')
    .map((pair) => {
      const equals = pair.indexOf('=');
      if (equals === -1) return pair;
      const name = pair.slice(0, equals);
      return isSecretParameter(decoded(name)) ? `${name}=${hidden}` : pair;
    })
    .join('&');
}

function decoded(name: string): string {
  try {
    return decodeURIComponent(name);
  } catch {
    // A name that cannot be decoded counts as secret.
    return 'token';
  }
}
