import { Namespaces } from './generated/namespaces.ts';
import { apiVersion, operations } from './generated/operations.ts';
import { bindOperations } from './methods.ts';
import { type OptionNames, rejectUnknownOptions } from './options.ts';
import { type RequestOptions, sendRequest } from './request.ts';
import {
  apiKeyFromEnvironment,
  type ConnectionOptions,
  connectionOptionNames,
  connectionTo,
} from './settings.ts';
import { type EventStreaming, streamEvents } from './stream.ts';
import { responseOf, Transport } from './transport.ts';
import { verifyWebhook, type WebhookVerification } from './webhooks.ts';

export * from './errors.ts';
export type { EventOf, EventTypeOf } from './event-of.ts';
export type * from './generated/namespaces.ts';
export type * from './generated/shapes.ts';
export type { CallOptions, WriteOptions } from './operation.ts';
export * from './operator.ts';
export { type Page, Pages } from './pages.ts';
export { type ShownEvent, webhookPayload } from './payload.ts';
export type { ReceivedHeaders } from './received-headers.ts';
export type { RequestOptions } from './request.ts';
export type { ConnectionOptions, ReceivedResponse, Retry, SentRequest } from './settings.ts';
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
  /** `sbk_sandbox_...`; the environment variable SANDBANK_API_KEY by default. */
  readonly apiKey?: string | undefined;
  /** The server address; by default the environment variable SANDBANK_URL, then `http://127.0.0.1:4000`. */
  readonly baseUrl?: string | undefined;
  /** `org_...`: the server then rejects a key of another organization. */
  readonly organization?: string | undefined;
}

const optionNames: OptionNames<SandbankOptions> = {
  ...connectionOptionNames,
  apiKey: true,
  baseUrl: true,
  organization: true,
};

/** The client of one application. It generates idempotency keys, retries safely with the same key, and throws typed errors. */
export class Sandbank extends Namespaces {
  /** Verification needs no API key, only the endpoint's secret. */
  static readonly webhooks: WebhookVerification = { verify: verifyWebhook };
  static readonly responseOf = responseOf;

  readonly baseUrl: string;

  readonly #transport: Transport;

  constructor(options: SandbankOptions = {}) {
    rejectUnknownOptions('new Sandbank()', options, optionNames);
    const apiKey = options.apiKey ?? apiKeyFromEnvironment();
    if (apiKey === undefined || apiKey === '')
      throw new TypeError(
        'The API key is missing. Pass apiKey, or set SANDBANK_API_KEY. It starts with sbk_sandbox_.',
      );
    const connection = connectionTo(options.baseUrl, options, {
      Authorization: `Bearer ${apiKey}`,
      'Api-Version': apiVersion,
      ...(options.organization === undefined ? {} : { 'Sandbank-Organization': options.organization }),
    });
    const transport = new Transport(connection);
    const bound = bindOperations(operations, transport);
    const streaming: EventStreaming = { stream: (streamOptions) => streamEvents(transport, streamOptions) };
    super({
      ...bound,
      webhooks: { ...(bound.webhooks as object), verify: verifyWebhook },
      events: { ...(bound.events as object), ...streaming },
    });
    this.baseUrl = connection.baseUrl;
    this.#transport = transport;
  }

  /**
   * Sends a request for which this client has no method, with the same retries, idempotency keys and errors:
   * `sandbank.request('POST', '/_api/developer_api_payments', { body })`.
   */
  request<T extends object = Record<string, unknown>>(
    method: 'GET' | 'POST',
    path: string,
    options?: RequestOptions,
  ): Promise<T> {
    return sendRequest(this.#transport, method, path, options);
  }
}

export default Sandbank;
