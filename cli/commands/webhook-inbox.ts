import type { Command } from 'commander';
import type { EventFilter, Sandbank, WebhookInbox, WebhookWithSecret } from '../../sdk/client.ts';
import { type FollowedAttempt, followAttempts } from '../attempts.ts';
import { declare } from '../declare.ts';
import { fieldValues } from '../generated/values.ts';
import { untilInterrupted } from '../interrupt.ts';
import { fields } from '../layout.ts';
import type { Output } from '../output.ts';
import { withoutUndefined } from '../paging.ts';
import { wrongUsage } from '../problem.ts';
import { choice, duration, listOf, whole } from '../reading.ts';
import type { Session } from '../session.ts';

interface InboxOptions {
  readonly respond?: number;
  readonly delay?: number;
  readonly timeout?: true;
  readonly events?: readonly string[];
  readonly retryProfile?: WebhookInbox['retryProfile'];
  readonly headers?: true;
  readonly body?: true;
  readonly follow: boolean;
}

export function addWebhookInbox(webhooks: Command): void {
  declare<InboxOptions>(webhooks, 'inbox', {
    summary: 'Receive webhooks without a receiver, in an endpoint that Sandbank hosts',
    details:
      'Creates the inbox of the application, or finds it, and prints each delivery attempt until Ctrl-C. The server signs, sends and retries as it does for every endpoint, and the inbox verifies the signature as your receiver would. The inbox keeps its behavior until you change it.',
    options: [
      ['--respond <status>', 'respond with this HTTP status, such as 500, 429 or 410', whole(200, 599)],
      ['--delay <duration>', 'wait before each response, up to 9s', duration],
      ['--timeout', 'never respond, so that attempts time out'],
      [
        '--events <types>',
        'only these types, such as payment.captured or payment.*',
        listOf(fieldValues.openWebhookInbox.eventTypes),
      ],
      [
        '--retry-profile <name>',
        'standard, fast or none',
        choice(...fieldValues.openWebhookInbox.retryProfile),
      ],
      ['--headers', 'print the request headers of each attempt'],
      ['--body', 'print the request body of each attempt'],
      ['--no-follow', 'print the inbox and exit'],
    ],
    examples: [
      ['webhooks inbox --body'],
      ['webhooks inbox --respond 500 --retry-profile fast', 'watch retries'],
      ['webhooks inbox --timeout --no-follow'],
      ['webhooks inbox --respond 200', 'work again'],
    ],
    run: async (session, options) => {
      const sandbank = await session.sandbank();
      const webhook = await sandbank.webhooks.inbox(bodyOf(options));
      if (!options.follow) {
        session.out.show(webhook, () => inboxText(webhook));
        return undefined;
      }
      await followInbox(session, sandbank, webhook, options);
      return undefined;
    },
  });
}

function bodyOf({ respond, delay, timeout, events, retryProfile }: InboxOptions): WebhookInbox {
  if (timeout && (respond !== undefined || delay !== undefined))
    throw wrongUsage('Pass --timeout, or --respond and --delay, not both.');
  const responds = respond !== undefined || delay !== undefined;
  const inbox = timeout
    ? { type: 'timeout' }
    : responds
      ? withoutUndefined({
          type: 'respond',
          responseStatus: respond,
          delayMs: delay === undefined ? undefined : delay * 1_000,
        })
      : undefined;
  return withoutUndefined({
    eventTypes: events as readonly EventFilter[] | undefined,
    retryProfile,
    inbox,
  }) as WebhookInbox;
}

async function followInbox(
  { out }: Session,
  sandbank: Sandbank,
  webhook: WebhookWithSecret,
  options: InboxOptions,
): Promise<void> {
  const signal = untilInterrupted();
  // Fails now without the right to read deliveries; later failures are retried.
  await sandbank.deliveries.list({ webhookId: webhook.id, limit: 1 }, { signal });
  if (webhook.secret !== undefined) out.say(`Secret: ${webhook.secret}`);
  if (webhook.status !== 'enabled')
    out.say(
      out.paintAside.yellow(
        `The inbox is disabled, so it receives nothing: sandbank webhooks enable ${webhook.id}`,
      ),
    );
  await followAttempts(sandbank, {
    webhookId: webhook.id,
    eventTypes: webhook.eventTypes,
    signal,
    out,
    onOpen: () => out.say(`Inbox ${webhook.id} ${behaviorText(webhook.inbox)}. Press Ctrl-C to stop.`),
    onAttempt: (followed) => printAttempt(out, followed, options),
  });
}

function behaviorText(inbox: WebhookWithSecret['inbox']): string {
  if (inbox?.type !== 'respond') return 'never responds';
  const { responseStatus, delayMs } = inbox;
  return `responds with ${responseStatus}${delayMs > 0 ? ` after ${delayMs} ms` : ''}`;
}

function inboxText(webhook: WebhookWithSecret): string {
  return fields([
    ['endpoint', webhook.id],
    ['status', webhook.status],
    ['url', webhook.url],
    ['events', webhook.eventTypes.join(', ')],
    ['retries', webhook.retryProfile],
    ['inbox', behaviorText(webhook.inbox)],
    ['secret', webhook.secret],
  ]);
}

function printAttempt(
  out: Output,
  { delivery, attempt }: FollowedAttempt,
  { headers, body }: InboxOptions,
): void {
  const { id: deliveryId, eventId, eventType, requestBody } = delivery;
  const { number, status, responseStatus, durationMs, error, requestHeaders } = attempt;
  const signatureVerified = isVerified(attempt.responseBody);
  const shown = {
    ...{ object: 'inbox_attempt', sandbox: true, status, deliveryId, eventId, eventType, number },
    ...{ responseStatus, durationMs, error, signatureVerified },
    ...(headers && { requestHeaders }),
    ...(body && { requestBody }),
  };
  out.show(shown, () => {
    const { green, red, dim } = out.paint;
    const answer = responseStatus === null ? red(error ?? 'failed') : String(responseStatus);
    const result = error === null ? green(answer) : red(answer);
    const verified = signatureVerified ? 'signature verified' : 'signature not verified';
    return [
      `${dim(attempt.sentAt)}  ${eventType}  ${eventId}  attempt ${number}  -> ${result}  ${verified}  ${durationMs} ms`,
      ...(headers ? Object.entries(requestHeaders ?? {}).map(([name, value]) => `  ${name}: ${value}`) : []),
      ...(body ? [`  ${requestBody}`] : []),
    ].join('\n');
  });
}

/** The receipt of the inbox. There is none when it did not respond. */
function isVerified(responseBody: string | null): boolean {
  try {
    const receipt = JSON.parse(responseBody ?? 'null') as { readonly signatureVerified?: boolean } | null;
    return receipt?.signatureVerified === true;
  } catch {
    return false;
  }
}
