import { consoleErrors, operatorErrors } from './console-errors.ts';
import { type CatalogueEntry, entry, retryable, stored, unauthenticated } from './error-entry.ts';
import { limits } from './limits.ts';

/**
 * The catalogue of all error codes. The name and meaning of a code never change. Each entry describes the problem and the fix;
 * error responses, the errors page and the OpenAPI document show both texts.
 *
 * `stored` says whether the response is stored under the idempotency key. Only refusals by `decide` are: everything else may have
 * a different outcome when the client repeats the request.
 */
export const errorCatalogue = {
  invalid_request: entry(
    400,
    'A field, parameter or header has a value that is not accepted.',
    'Correct what `param` points at. `details.errors` lists all invalid values of a body.',
  ),
  malformed_json: entry(400, 'The body is not well-formed JSON.', 'Send one JSON object in UTF-8.'),
  idempotency_key_missing: entry(
    400,
    'The write has no Idempotency-Key header.',
    'Send a unique Idempotency-Key with every POST, and the same one when you retry it.',
  ),
  idempotency_key_invalid: entry(
    400,
    'The Idempotency-Key header is not 1 to 255 visible ASCII characters.',
    'Use a UUID or a similar unique value.',
  ),
  unsupported_api_version: entry(
    400,
    'The Api-Version header names a version that does not exist.',
    'Leave the header out or send a version listed by developer_api_capabilities.',
  ),
  invalid_cursor: entry(
    400,
    'The cursor does not belong to this list.',
    "Pass the previous page's `nextCursor` unchanged, or omit `cursor` to start with the newest.",
  ),
  api_key_missing: entry(
    401,
    'The request has no API key.',
    'Send the header `Authorization: Bearer sbk_sandbox_...`.',
    unauthenticated,
  ),
  api_key_invalid: entry(
    401,
    'The API key is unknown.',
    'Check that you copied the whole key and that it belongs to this server.',
    unauthenticated,
  ),
  api_key_revoked: entry(401, 'The API key was revoked.', 'Use another key of the application.'),
  api_key_expired: entry(401, 'The API key has expired.', 'Use another key of the application.'),
  scope_missing: entry(
    403,
    'The API key does not have the scope that this operation needs.',
    'Use a key that has the scope named in `details.scope`.',
  ),
  reset_not_permitted: entry(
    403,
    'The API key may not reset the organization.',
    'Use a key with `mayReset`, which an owner or admin grants in the console, or reset in the console.',
  ),
  organization_mismatch: entry(
    403,
    'The Sandbank-Organization header names another organization than the key belongs to.',
    'Leave the header out, or use a key of that organization.',
  ),
  ip_not_allowed: entry(
    403,
    'The API key may not be used from this address.',
    'Call from an allowed network, or change the allowed networks of the key.',
  ),
  resource_not_found: entry(
    404,
    'There is no such record in this organization.',
    'Check the id and the key that you use.',
  ),
  route_not_found: entry(
    404,
    'There is no such path.',
    'See /openapi.json for the paths that exist.',
    unauthenticated,
  ),
  method_not_allowed: entry(
    405,
    'The path exists, but not with this method.',
    'Use a method of the Allow header.',
    unauthenticated,
  ),
  payload_too_large: entry(
    413,
    'The body is larger than 256 KiB.',
    'Send less; put large data elsewhere and refer to it.',
  ),
  unsupported_media_type: entry(
    415,
    'The body is not declared as application/json in UTF-8.',
    'Send `Content-Type: application/json`, uncompressed.',
  ),
  host_not_allowed: entry(
    421,
    'The Host header names a host that this server does not serve.',
    'Use the address of `SANDBANK_PUBLIC_URL` or a loopback address, or add the host to `SANDBANK_ALLOWED_HOSTS`.',
    unauthenticated,
  ),
  invalid_state_transition: entry(
    409,
    'The record is in a state from which this action is not possible.',
    'See `details.status` and `allowedActions`.',
    stored,
  ),
  idempotency_in_progress: entry(
    409,
    'A request with the same Idempotency-Key is still running.',
    'Wait as long as Retry-After says, then send the same request again.',
    retryable,
  ),
  idempotency_key_reused: entry(
    422,
    'The Idempotency-Key was used before with another method, path or body.',
    'Use a new key for a new request.',
  ),
  customer_not_found: entry(
    422,
    'The customer named in the body does not exist in this organization.',
    'Create the customer first, or leave `customerId` out.',
    stored,
  ),
  customer_archived: entry(
    422,
    'The customer named in the body is archived.',
    'Use an active customer, or leave `customerId` out.',
    stored,
  ),
  customer_identity_missing: entry(
    422,
    'A customer needs a name or an email, and this change would leave neither.',
    'Keep one of the two, or set the other in the same request.',
    stored,
  ),
  unsupported_currency: entry(
    422,
    'The currency code is well-formed, but the currency is not supported.',
    'Use a code listed by developer_api_capabilities.',
    stored,
  ),
  currency_mismatch: entry(
    422,
    'The currency in the body differs from the payment currency.',
    'Send the payment currency, or omit `currency`.',
    stored,
  ),
  amount_exceeds_capturable: entry(
    422,
    'The amount exceeds the capturable amount.',
    'Capture at most `details.capturable`, or leave `amount` out to capture all of it.',
    stored,
  ),
  amount_exceeds_refundable: entry(
    422,
    'The amount exceeds the refundable amount. Pending refunds and disputed amounts count.',
    'Refund at most `details.refundable`, or leave `amount` out to refund all of it.',
    stored,
  ),
  amount_exceeds_disputable: entry(
    422,
    'The amount exceeds the disputable amount. Refunds, including pending ones, and earlier disputes count.',
    'Dispute at most `details.disputable`, or leave `amount` out to dispute all of it.',
    stored,
  ),
  beneficiary_missing: entry(
    422,
    'A transfer needs a beneficiary with a name before it is accepted.',
    'Send `beneficiary` with the quote, or with the action `accept`.',
    stored,
  ),
  quote_expired: entry(
    422,
    'The quote has expired.',
    'Advance the transfer with the action `requote`, then accept it in time.',
    stored,
  ),
  insufficient_funds: entry(
    422,
    'The available balance does not cover the transfer and its fee.',
    'Settle payments in that currency first, send less, or fund the transfer from outside.',
    stored,
  ),
  amount_too_small: entry(
    422,
    'The amount is less than one minor unit after conversion.',
    'Send a larger amount.',
    stored,
  ),
  amount_too_large: entry(
    422,
    'The amount is more than 999,999,999,999 minor units after conversion, or with its fee.',
    'Send a smaller amount.',
    stored,
  ),
  clock_advancing: entry(
    409,
    'Another request is advancing the clock.',
    'Wait as long as Retry-After says, then send the same request again.',
    retryable,
  ),
  clock_moves_back: entry(
    422,
    'The clock cannot move backwards.',
    'Name a time that is not before the clock, or reset it to real time.',
    stored,
  ),
  clock_too_far: entry(
    422,
    'The clock would be more than a hundred years ahead of real time.',
    'Name a nearer time, or reset it to real time first.',
    stored,
  ),
  webhook_url_not_allowed: entry(
    422,
    'The URL names an address that this server does not send to.',
    'Use an http or https URL without credentials whose host is reachable from the public internet, or let the server be configured to allow private addresses.',
    stored,
  ),
  webhook_not_found: entry(
    422,
    'The webhook named in the body does not exist, or belongs to another application than the API key.',
    'Check `webhookId`, or leave it out.',
    stored,
  ),
  webhook_limit_reached: entry(
    422,
    'The application has the maximum number of webhooks.',
    'Change an existing webhook instead of creating another one.',
    stored,
  ),
  webhook_host_limit_reached: entry(
    422,
    `The application has ${limits.webhooksPerHostMax} webhooks at the host of the URL, which is the maximum.`,
    'Change a webhook with this host, or receive the events at one URL and distribute them there. Loopback hosts have no such limit.',
    stored,
  ),
  webhook_header_not_allowed: entry(
    422,
    'A custom header has a reserved name, or appears twice.',
    'Remove the header that `param` points at. Sandbank sets Host, User-Agent, Content-*, Webhook-* and the headers of the connection.',
    stored,
  ),
  webhook_not_inbox: entry(
    422,
    'The webhook is not an inbox, so it has no inbox behavior.',
    'Leave `inbox` out, or use the inbox of the application: POST developer_api_webhook_inbox.',
    stored,
  ),
  webhook_signature_invalid: entry(
    401,
    'The inbox does not exist, or the request signature is missing or invalid.',
    'Only Sandbank sends requests to an inbox. Send a test event to the webhook instead.',
    unauthenticated,
  ),
  replay_running: entry(
    409,
    'Another replay of the application is not finished: it still creates deliveries, or some of them were not attempted yet.',
    'Wait as long as Retry-After says, then send the same request again. `details.replayId` names the other replay.',
    retryable,
  ),
  fault_plans_limit: entry(
    422,
    'The application has the maximum number of active fault plans.',
    'Cancel an active plan, or wait until one is exhausted.',
    stored,
  ),
  examination_running: entry(
    409,
    'Another request is examining the receiver of this webhook, or too many examinations are running.',
    'Wait as long as Retry-After says, then send the same request again.',
    retryable,
  ),
  ...consoleErrors,
  ...operatorErrors,
  rate_limited: entry(
    429,
    'The key, its application or the person exceeds the rate limit, or there were too many sign-in attempts.',
    'Wait as long as Retry-After says, then send the same request again.',
    retryable,
  ),
  internal_error: entry(
    500,
    'Sandbank failed because of an internal error.',
    'Send the same request again with the same Idempotency-Key, and report the request id if the error persists.',
    retryable,
  ),
  service_unavailable: entry(
    503,
    'The service cannot process the request now.',
    'Wait as long as Retry-After says, then send the same request again with the same Idempotency-Key.',
    retryable,
  ),
} as const satisfies Record<string, CatalogueEntry>;

export type ErrorCode = keyof typeof errorCatalogue;

/** The error codes of the public API. */
export const apiErrorCodes: readonly ErrorCode[] = (Object.keys(errorCatalogue) as ErrorCode[]).filter(
  (code) => errorCatalogue[code].api === 'public',
);

export function isErrorCode(text: string): text is ErrorCode {
  return Object.hasOwn(errorCatalogue, text);
}

/** Why a request was refused. Plain data, which the core returns and never throws. */
export interface Refusal {
  readonly ok: false;
  readonly code: ErrorCode;
  /** A specific message; the default is the text of the catalogue. */
  readonly message?: string;
  /** A JSON pointer to the offending field of the body, or a pointer-like name of a parameter or header. */
  readonly param?: string;
  readonly details?: Readonly<Record<string, unknown>>;
  readonly allowedActions?: readonly string[];
  readonly retryAfterSeconds?: number;
}

export function refuse(code: ErrorCode, more: Omit<Refusal, 'ok' | 'code'> = {}): Refusal {
  return { ok: false, code, ...more };
}

export function statusOf(code: ErrorCode): number {
  return errorCatalogue[code].status;
}

export function isStored(code: ErrorCode): boolean {
  return errorCatalogue[code].stored;
}
