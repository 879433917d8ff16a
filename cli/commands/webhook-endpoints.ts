import type { Command } from 'commander';
import type { EventFilter, Webhook, WebhookDetail, WebhookUpdate } from '../../sdk/client.ts';
import { declare } from '../declare.ts';
import { fieldValues } from '../generated/values.ts';
import { fields } from '../layout.ts';
import { withoutUndefined } from '../paging.ts';
import { wrongUsage } from '../problem.ts';
import { choice, duration, listOf, pairs, whole } from '../reading.ts';

interface UpdateOptions {
  readonly endpoint?: string;
  readonly events?: readonly string[];
  readonly description?: string;
  readonly retryProfile?: WebhookUpdate['retryProfile'];
  readonly concurrency?: number;
  readonly header?: Readonly<Record<string, string>>;
  readonly headers: boolean;
}

const concurrencyMax = 64;

/** The commands for an endpoint that exists. */
export function addWebhookEndpoints(webhooks: Command): void {
  declare(webhooks, 'get <id>', {
    summary: 'Show an endpoint and its health; never its secret',
    examples: [['webhooks get whk_...']],
    run: async (session, _options, id = '') => {
      const webhook = await (await session.sandbank()).webhooks.retrieve(id);
      session.out.show(webhook, () => webhookText(webhook));
      return undefined;
    },
  });
  declare<UpdateOptions>(webhooks, 'update <id>', {
    summary: 'Change the URL, event types, retries or description of an endpoint',
    options: [
      // --url is the address of the server.
      ['--endpoint <url>', 'new URL'],
      [
        '--events <types>',
        'only these types, such as payment.captured or payment.*',
        listOf(fieldValues.updateWebhook.eventTypes),
      ],
      ['--description <text>', 'description for people; empty clears it'],
      ['--retry-profile <name>', 'standard, fast or none', choice(...fieldValues.updateWebhook.retryProfile)],
      ['--concurrency <count>', 'requests in flight at once', whole(1, concurrencyMax)],
      ['--header <name=value>', 'custom header; repeatable, and replaces all previous ones', pairs],
      ['--no-headers', 'remove the custom headers'],
    ],
    examples: [
      ["webhooks update whk_... --events 'payment.*,refund.succeeded'"],
      ['webhooks update whk_... --endpoint https://example.test/hooks --retry-profile fast'],
    ],
    run: async (session, options, id = '') => {
      const { endpoint, events, description, retryProfile, concurrency, header, headers } = options;
      const body = withoutUndefined({
        url: endpoint,
        eventTypes: events as readonly EventFilter[] | undefined,
        description: description === '' ? null : description,
        retryProfile,
        maxConcurrency: concurrency,
        headers: headers ? header : {},
      });
      if (Object.keys(body).length === 0) throw wrongUsage('Pass at least one setting to change.');
      const webhook = await (await session.sandbank()).webhooks.update(id, body);
      session.out.show(webhook, () => webhookText(webhook));
      return undefined;
    },
  });
  declare(webhooks, 'enable <id>', {
    summary: 'Enable an endpoint; events that were held are sent first',
    examples: [['webhooks enable whk_...']],
    run: async (session, _options, id = '') => {
      const webhook = await (await session.sandbank()).webhooks.enable(id);
      session.out.show(webhook, () => webhookText(webhook));
      return undefined;
    },
  });
  declare(webhooks, 'disable <id>', {
    summary: 'Disable an endpoint; its events are held until it is enabled again',
    examples: [['webhooks disable whk_...']],
    run: async (session, _options, id = '') => {
      const webhook = await (await session.sandbank()).webhooks.disable(id);
      session.out.show(webhook, () => webhookText(webhook));
      return undefined;
    },
  });
  declare(webhooks, 'delete <id>', {
    summary: 'Delete an endpoint; its pending deliveries end, and their history stays',
    examples: [['webhooks delete whk_...']],
    run: async (session, _options, id = '') => {
      const webhook = await (await session.sandbank()).webhooks.delete(id);
      session.out.show(webhook, () => webhookText(webhook));
      return undefined;
    },
  });
  declare<{ readonly secret?: string; readonly overlap?: number }>(webhooks, 'rotate-secret <id>', {
    summary: 'Create a new secret; it is shown once, and the old one signs as well for a while',
    options: [
      ['--secret <whsec>', 'use this secret instead of a generated one'],
      ['--overlap <duration>', 'how long the old secret signs as well, such as 1h (1d)', duration],
    ],
    examples: [['webhooks rotate-secret whk_...'], ['webhooks rotate-secret whk_... --overlap 10m --json']],
    run: async (session, { secret, overlap }, id = '') => {
      const body = withoutUndefined({ secret, overlapSeconds: overlap });
      const webhook = await (await session.sandbank()).webhooks.rotateSecret(id, body);
      session.out.show(webhook, () => `${webhookText(webhook)}\n${fields([['secret', webhook.secret]])}`);
      if (!session.out.isJson) session.out.say('The secret is shown only once.');
      return undefined;
    },
  });
}

type Shown = Omit<Webhook, 'requestId'> & Partial<Pick<WebhookDetail, 'health'>>;

function webhookText(webhook: Shown): string {
  const { id, status, disabledReason, url, eventTypes, retryProfile, maxConcurrency, health } = webhook;
  return fields([
    ['endpoint', id],
    ['status', disabledReason === null ? status : `${status} (${disabledReason})`],
    ['url', url],
    ['description', webhook.description],
    ['events', eventTypes.join(', ')],
    ['retries', retryProfile],
    ['concurrency', maxConcurrency],
    ['headers', webhook.headerNames.length === 0 ? undefined : webhook.headerNames.join(', ')],
    ['old secret until', webhook.previousSecretExpiresAt],
    ['failing since', health?.failingSince],
    ['last success', health?.lastSuccessAt],
    ['last failure', health?.lastFailureAt],
    ['pending', health?.pendingDeliveries],
  ]);
}
