import { Namespaces } from './generated/namespaces.ts';
import { apiVersion, operations } from './generated/operations.ts';
import { bindOperations } from './methods.ts';
import { apiKeyFromEnvironment, type ConnectionOptions, connectionTo } from './settings.ts';
import { type EventStreaming, streamEvents } from './stream.ts';
import { responseOf, Transport } from './transport.ts';
import { verifyWebhook, type WebhookVerification } from './webhooks.ts';

export * from './errors.ts';
export type * from './generated/namespaces.ts';
export type * from './generated/shapes.ts';
export type { CallOptions, WriteOptions } from './operation.ts';
export * from './operator.ts';
export { type Page, Pages } from './pages.ts';
export { type ShownEvent, webhookPayload } from './payload.ts';
export type { ReceivedHeaders } from './received-headers.ts';
export type { ConnectionOptions, Retry } from './settings.ts';
export type { EventStreaming, StreamedEvent, StreamOptions } from './stream.ts';
export { type ResponseFacts, responseOf } from './transport.ts';
export {
  type SignedWebhook,
  signWebhook,
  type VerifyOptions,
  verifyWebhook,
  type WebhookVerification,
} from './webhooks.ts';

export interface SandbankOptions extends ConnectionOptions {
  /** `sbk_sandbox_...`; the environment variable SANDBANK_API_KEY unless told. */
  readonly apiKey?: string | undefined;
  /** Where the server is; the environment variable SANDBANK_URL unless told, and `http://127.0.0.1:4000` without one. */
  readonly baseUrl?: string | undefined;
  /** `org_...`: the server then refuses a key of another organization. */
  readonly organization?: string | undefined;
}

/**
 * A client of one application of a Sandbank server. It makes idempotency keys, retries what can be retried with the same key,
 * and throws typed errors.
 */
export class Sandbank extends Namespaces {
  /** Verifying needs no key, only the secret of the endpoint. */
  static readonly webhooks: WebhookVerification = { verify: verifyWebhook };
  static readonly responseOf = responseOf;

  readonly baseUrl: string;

  constructor(options: SandbankOptions = {}) {
    const apiKey = options.apiKey ?? apiKeyFromEnvironment();
    if (apiKey === undefined || apiKey === '')
      throw new TypeError(
        'There is no API key: give apiKey, or set SANDBANK_API_KEY. It begins with sbk_sandbox_.',
      );
    const connection = connectionTo(options.baseUrl, options, {
      Authorization: `Bearer ${apiKey}`,
      'Api-Version': apiVersion,
      ...(options.organization === undefined ? {} : { 'Sandbank-Organization': options.organization }),
    });
    const transport = new Transport(connection);
    const bound = bindOperations(operations, transport);
    const streaming: EventStreaming = { stream: (given) => streamEvents(transport, given) };
    super({
      ...bound,
      webhooks: { ...(bound.webhooks as object), verify: verifyWebhook },
      events: { ...(bound.events as object), ...streaming },
    });
    this.baseUrl = connection.baseUrl;
  }
}

export default Sandbank;
