import type { Delivery } from '../../client/shapes.ts';

/** What to look at, by how an error begins: the table of docs/webhooks.md. */
const advice: readonly (readonly [beginning: string, words: string])[] = [
  ['DNS:', 'The name in the URL was not found. Check its spelling and its DNS records.'],
  ['Connection refused:', 'Nothing listens there. Check that the receiver runs, and its port.'],
  [
    'Connection closed:',
    'The connection was cut before an answer came. Look at the receiver and what stands before it.',
  ],
  ['Network:', 'The receiver was not reached. Check that it runs, and what stands before it.'],
  ['TLS:', 'The certificate of the receiver was not accepted. Check its name, its date and its chain.'],
  ['Timeout:', 'The receiver took longer than 10 seconds. Answer first, and work later.'],
  ['Status 410:', 'The receiver says it is gone for good, which disables the endpoint.'],
  ['Status 3', 'Redirects are not followed. Put the final address into the URL.'],
  ['Status ', 'The receiver answered, but not with a 2xx. Its own log says why.'],
  ['Answer:', 'What came back is not HTTP, or too much of it.'],
  ['Connection failed:', 'The connection broke. Look at the receiver and what stands before it.'],
  ['Signature:', 'The request could not be signed. Rotate the secret of the endpoint.'],
  ['The sender stopped', 'Sandbank was stopped in the middle and sends again, so the event may come twice.'],
];

export function adviceFor(error: string): string | undefined {
  return advice.find(([beginning]) => error.startsWith(beginning))?.[1];
}

const triggers: Readonly<Record<Delivery['trigger'], string>> = {
  event: 'The event',
  replay: 'A replay',
  test: 'A test',
};

export function triggerWords(trigger: Delivery['trigger']): string {
  return triggers[trigger];
}

/** 'x-name: value', one a line, as they go over the wire. */
export function headerText(headers: Readonly<Record<string, string>>): string {
  return Object.entries(headers)
    .map(([name, value]) => `${name}: ${value}`)
    .join('\n');
}
