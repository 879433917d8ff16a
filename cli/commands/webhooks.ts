import type { Command } from 'commander';
import type { EventFilter, ListWebhooksQuery, WebhookCreate, WebhookTest } from '../../sdk/client.ts';
import { declare, group } from '../declare.ts';
import { fieldValues } from '../generated/values.ts';
import { fields } from '../layout.ts';
import { type PageOptions, pageOptions, showPage, withoutUndefined } from '../paging.ts';
import { type Exit, exits } from '../problem.ts';
import { choice, listOf, pairs } from '../reading.ts';

interface CreateOptions {
  readonly events?: readonly string[];
  readonly description?: string;
  readonly retryProfile?: WebhookCreate['retryProfile'];
  readonly secret?: string;
  readonly header?: Readonly<Record<string, string>>;
}

export function addWebhooks(program: Command): Command {
  const webhooks = group(program, 'webhooks', 'Register endpoints, test them, and check signatures');
  declare<PageOptions & { readonly status?: string }>(webhooks, 'list', {
    summary: 'List the endpoints of the application, newest first',
    options: [
      ['--status <state>', 'enabled, disabled or deleted', choice(...fieldValues.listWebhooks.status)],
      ...pageOptions,
    ],
    examples: [['webhooks list']],
    run: async (session, { status, limit, cursor }) => {
      const pages = (await session.sandbank()).webhooks.list(
        withoutUndefined({ status, limit, cursor }) as ListWebhooksQuery,
      );
      await showPage(session.out, pages, ['ENDPOINT', 'STATUS', 'URL', 'EVENTS'], (one) => [
        one.id,
        one.disabledReason === null ? one.status : `${one.status} (${one.disabledReason})`,
        one.url,
        one.eventTypes.join(','),
      ]);
      return undefined;
    },
  });
  declare<CreateOptions>(webhooks, 'create <endpoint>', {
    summary: 'Register the URL of an endpoint; its secret is shown once',
    options: [
      [
        '--events <types>',
        'only these types, such as payment.captured or payment.*',
        listOf(fieldValues.createWebhook.eventTypes),
      ],
      ['--description <text>', 'description for people'],
      ['--retry-profile <name>', 'standard, fast or none', choice(...fieldValues.createWebhook.retryProfile)],
      ['--secret <whsec>', 'use this secret instead of a generated one'],
      ['--header <name=value>', 'custom header of each request; repeatable', pairs],
    ],
    examples: [["webhooks create https://example.test/hooks --events 'payment.*'"]],
    run: async (session, { events, description, retryProfile, secret, header }, url = '') => {
      const body = withoutUndefined({
        url,
        eventTypes: events as readonly EventFilter[] | undefined,
        description,
        retryProfile,
        secret,
        headers: header,
      });
      const webhook = await (await session.sandbank()).webhooks.create(body as WebhookCreate);
      session.out.show(webhook, () =>
        fields([
          ['endpoint', webhook.id],
          ['url', webhook.url],
          ['events', webhook.eventTypes.join(', ')],
          ['secret', webhook.secret],
        ]),
      );
      if (!session.out.isJson) session.out.say('The secret is shown only once.');
      return undefined;
    },
  });
  declare<{ readonly type?: string }>(webhooks, 'test <id>', {
    summary: 'Send one real event to an endpoint and show its response',
    options: [
      [
        '--type <type>',
        'event type of the example to send (default: webhook.tested)',
        choice(...fieldValues.testWebhook.type),
      ],
    ],
    examples: [['webhooks test whk_... --type payment.captured']],
    run: async (session, { type }, id = '') => {
      const body = withoutUndefined({ type }) as WebhookTest;
      const delivery = await (await session.sandbank()).webhooks.test(id, body);
      const [attempt] = delivery.attempts;
      session.out.show(delivery, () =>
        fields([
          ['delivery', delivery.id],
          ['status', delivery.status],
          ['url', delivery.url],
          ['response', attempt?.responseStatus],
          ['took', attempt === undefined ? undefined : `${attempt.durationMs} ms`],
          ['error', attempt?.error],
        ]),
      );
      return delivery.status === 'succeeded' ? undefined : (exits.refused satisfies Exit);
    },
  });
  return webhooks;
}
