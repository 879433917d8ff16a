/**
 * Why an attempt to deliver an event has failed: its `error` begins with the prefix of its kind. Of several prefixes that match, the
 * first one applies. The advice is for the person who reads the error.
 */
export const attemptErrors = {
  dns: {
    prefix: 'DNS:',
    advice: 'The host name in the URL was not found. Check its spelling and its DNS records.',
  },
  connectionRefused: {
    prefix: 'Connection refused:',
    advice: 'Nothing listens on this port. Check that the receiver is running, and its port.',
  },
  connectionClosed: {
    prefix: 'Connection closed:',
    advice:
      'The connection was closed before a response arrived. Check the receiver and any proxy in front of it.',
  },
  connectionFailed: {
    prefix: 'Connection failed:',
    advice: 'The connection failed. Check the receiver and any proxy in front of it.',
  },
  network: {
    prefix: 'Network:',
    advice: 'The receiver could not be reached. Check that it is running, and any proxy in front of it.',
  },
  tls: {
    prefix: 'TLS:',
    advice: 'The receiver’s TLS certificate was not accepted. Check its host name, expiry and chain.',
  },
  timeout: {
    prefix: 'Timeout:',
    advice: 'The receiver took too long. Respond first, then process the event.',
  },
  gone: { prefix: 'Status 410:', advice: 'The receiver responded 410 Gone, which disables the endpoint.' },
  redirect: { prefix: 'Status 3', advice: 'Redirects are not followed. Use the final URL.' },
  status: {
    prefix: 'Status ',
    advice: 'The receiver responded, but not with 2xx. Check the receiver’s log.',
  },
  response: {
    prefix: 'Response:',
    advice: 'The response is not valid HTTP, or its headers are too large.',
  },
  signature: {
    prefix: 'Signature:',
    advice: 'The request could not be signed. Rotate the endpoint’s signing secret.',
  },
  senderStopped: {
    prefix: 'The sender stopped',
    advice: 'Sandbank stopped during the attempt and retries it, so the event may arrive twice.',
  },
} as const satisfies Record<string, { readonly prefix: string; readonly advice: string }>;

/** The error of an attempt: the prefix of its kind, then what happened. */
export function attemptError(
  kind: Exclude<keyof typeof attemptErrors, 'gone' | 'redirect' | 'status' | 'senderStopped'>,
  detail: string,
): string {
  return `${attemptErrors[kind].prefix} ${detail}`;
}

/** The error of an attempt with a response that is not a success. */
export function statusError(status: number, detail: string): string {
  return `${attemptErrors.status.prefix}${status}: ${detail}`;
}
