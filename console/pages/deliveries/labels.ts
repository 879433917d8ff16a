import type { Delivery } from '../../generated/shapes.ts';

/** Advice by error prefix, as in the table of docs/webhooks.md. */
const advice: readonly (readonly [prefix: string, advice: string])[] = [
  ['DNS:', 'The host name in the URL was not found. Check its spelling and its DNS records.'],
  ['Connection refused:', 'Nothing listens on this port. Check that the receiver is running, and its port.'],
  [
    'Connection closed:',
    'The connection was closed before a response arrived. Check the receiver and any proxy in front of it.',
  ],
  ['Network:', 'The receiver could not be reached. Check that it is running, and any proxy in front of it.'],
  ['TLS:', 'The receiver’s TLS certificate was not accepted. Check its host name, expiry and chain.'],
  ['Timeout:', 'The receiver took too long. Respond first, then process the event.'],
  ['Status 410:', 'The receiver responded 410 Gone, which disables the endpoint.'],
  ['Status 3', 'Redirects are not followed. Use the final URL.'],
  ['Status ', 'The receiver responded, but not with 2xx. Check the receiver’s log.'],
  ['Response:', 'The response is not valid HTTP, or its headers are too large.'],
  ['Connection failed:', 'The connection failed. Check the receiver and any proxy in front of it.'],
  ['Signature:', 'The request could not be signed. Rotate the endpoint’s signing secret.'],
  [
    'The sender stopped',
    'Sandbank stopped during the attempt and retries it, so the event may arrive twice.',
  ],
];

export function adviceFor(error: string): string | undefined {
  return advice.find(([prefix]) => error.startsWith(prefix))?.[1];
}

const triggerLabels: Readonly<Record<Delivery['trigger'], string>> = {
  event: 'Event',
  replay: 'Replay',
  test: 'Test',
};

export function triggerLabel(trigger: Delivery['trigger']): string {
  return triggerLabels[trigger];
}

/** 'x-name: value', one header per line. */
export function headerText(headers: Readonly<Record<string, string>>): string {
  return Object.entries(headers)
    .map(([name, value]) => `${name}: ${value}`)
    .join('\n');
}
