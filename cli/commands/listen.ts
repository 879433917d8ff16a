import { createHmac } from 'node:crypto';
import type { Command } from 'commander';
import type { Sandbank } from '../../sdk/client.ts';
import { declare } from '../declare.ts';
import { type Followed, follow, recent } from '../follow.ts';
import { type Forwarded, Forwarder, targetUrl } from '../forward.ts';
import { fieldValues } from '../generated/values.ts';
import { untilInterrupted } from '../interrupt.ts';
import type { Output } from '../output.ts';
import { wrongUsage } from '../problem.ts';
import { listOf, type Since, since } from '../reading.ts';
import type { Session } from '../session.ts';

interface ListenOptions {
  readonly forwardTo?: string;
  readonly events?: readonly string[];
  readonly secret?: string;
  readonly since?: Since;
  readonly skipVerify?: true;
  readonly printSecret?: true;
}

export function addListen(program: Command): void {
  declare<ListenOptions>(program, 'listen', {
    summary: 'Forward events to a URL on this machine, signed as webhooks',
    details:
      'The server does not need to reach this machine, so it can run anywhere. Each event is a POST with the payload and headers of a webhook. The secret is the same for every run with the same API key. After a lost connection the command reconnects and continues after the last event, so no event is missed. Replayed events are forwarded again.',
    options: [
      ['--forward-to <url>', 'where to send events: a URL, localhost:3000/webhooks or 3000/webhooks'],
      [
        '--events <types>',
        'only these types, such as payment.captured or payment.*',
        listOf(fieldValues.createWebhook.eventTypes),
      ],
      ['--since <time>', 'start with the events since then: an instant, or a duration such as 10m', since],
      ['--secret <whsec>', 'sign with this secret, such as that of an endpoint (SANDBANK_WEBHOOK_SECRET)'],
      ['--print-secret', 'print the secret and exit'],
      ['--skip-verify', 'accept any TLS certificate of the target'],
    ],
    examples: [
      ['listen --forward-to localhost:3000/webhooks'],
      ["listen --forward-to 3000/webhooks --events 'payment.*,refund.succeeded' --since 10m"],
      ['listen --print-secret', 'for the settings of your receiver'],
    ],
    run: async (session, options) => {
      const { out } = session;
      const sandbank = await session.sandbank();
      const secret =
        options.secret ?? (session.env.SANDBANK_WEBHOOK_SECRET || secretOf(session.settings.apiKey ?? ''));
      if (!/^whsec_[A-Za-z0-9+/]+=*$/.test(secret)) throw wrongUsage('The secret must be whsec_ and base64.');
      if (options.printSecret) {
        out.show({ object: 'listen_secret', sandbox: true, status: 'ok', secret }, () => secret);
        return undefined;
      }
      await listen(session, sandbank, options, secret);
      return undefined;
    },
  });
}

/** Derived from the API key, so that it is stable without a file; the key cannot be derived from it. */
function secretOf(apiKey: string): string {
  return `whsec_${createHmac('sha256', apiKey).update('sandbank listen').digest('base64')}`;
}

async function listen(
  { out }: Session,
  sandbank: Sandbank,
  options: ListenOptions,
  secret: string,
): Promise<void> {
  const { forwardTo, events, since, skipVerify } = options;
  if (forwardTo === undefined)
    throw wrongUsage(
      'Give --forward-to, such as localhost:3000/webhooks. "sandbank events tail --follow" shows events without forwarding them.',
    );
  const url = targetUrl(forwardTo);
  if (url === undefined)
    throw wrongUsage('--forward-to must be a URL or an address such as localhost:3000/webhooks.');
  const { signWebhook, webhookPayload } = await import('../../sdk/client.ts');
  const signal = untilInterrupted();
  // Fails at once without a server or a valid key; later failures are retried.
  const { application } = await sandbank.status({ retriesMax: 0, signal });
  const forwarder = new Forwarder({
    url,
    verifiesTls: skipVerify !== true,
    signal,
    onWait: (error, waitMs) => out.say(out.paintAside.yellow(`${url}: ${error}; retrying in ${waitMs} ms`)),
  });
  const following = follow(sandbank, {
    signal,
    eventTypes: events,
    backlog: () => (since === undefined ? Promise.resolve([]) : recent(sandbank, { since, types: events })),
    out,
    onOpen: () => {
      out.say(`Secret: ${secret}`);
      out.say(`Listening to ${application.name}, forwarding to ${url}. Press Ctrl-C to stop.`);
    },
  });
  try {
    for await (const event of following) {
      const payload = webhookPayload(event);
      const forwarded = await forwarder.send(() => signWebhook(payload, secret, { id: event.id }));
      if (signal.aborted && forwarded.responseStatus === null) break;
      printForwarded(out, event, forwarded);
    }
  } finally {
    forwarder.close();
  }
}

function printForwarded(out: Output, { id, type, isReplay }: Followed, forwarded: Forwarded): void {
  const { responseStatus, durationMs, error } = forwarded;
  const isFine = responseStatus !== null && responseStatus < 300;
  const status = isFine ? 'delivered' : responseStatus === null ? 'failed' : 'refused';
  out.show({ object: 'forward', sandbox: true, status, eventId: id, type, isReplay, ...forwarded }, () => {
    const { green, red, dim } = out.paint;
    const answer = isFine
      ? green(String(responseStatus))
      : red(responseStatus === null ? (error ?? 'failed') : String(responseStatus));
    return `${dim(new Date().toISOString())}  ${type}  ${id}${isReplay ? '  (replay)' : ''}  -> ${answer}  ${durationMs} ms`;
  });
}
