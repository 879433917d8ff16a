import type { Limits } from '../../client/limits.ts';
import type { Webhook } from '../../generated/shapes.ts';
import { durationText } from '../../parts/text.ts';

export type Behavior = NonNullable<Webhook['inbox']>;
export type Response = Extract<Behavior, { readonly type: 'respond' }>;
export type Mode = 'succeed' | 'fail' | 'slow' | 'timeout';

export const modes: readonly { readonly value: Mode; readonly label: string }[] = [
  { value: 'succeed', label: 'Succeed' },
  { value: 'fail', label: 'Fail' },
  { value: 'slow', label: 'Respond slowly' },
  { value: 'timeout', label: 'Time out' },
];

const failure: Response = { type: 'respond', responseStatus: 500, delayMs: 0 };

/** What each mode begins with. */
export const defaults: Readonly<Record<Mode, Behavior>> = {
  succeed: { type: 'respond', responseStatus: 200, delayMs: 0 },
  fail: failure,
  slow: { type: 'respond', responseStatus: 200, delayMs: 3_000 },
  timeout: { type: 'timeout' },
};

export function modeOf(behavior: Behavior): Mode {
  if (behavior.type === 'timeout') return 'timeout';
  if (behavior.responseStatus >= 300) return 'fail';
  return behavior.delayMs > 0 ? 'slow' : 'succeed';
}

type FailingStatus = Exclude<Response['responseStatus'], 200 | 201 | 202>;

const failures: Readonly<Record<FailingStatus, string>> = {
  301: 'Moved Permanently',
  400: 'Bad Request',
  401: 'Unauthorized',
  403: 'Forbidden',
  404: 'Not Found',
  408: 'Request Timeout',
  409: 'Conflict',
  410: 'Gone',
  422: 'Unprocessable Content',
  429: 'Too Many Requests',
  500: 'Internal Server Error',
  502: 'Bad Gateway',
  503: 'Service Unavailable',
  504: 'Gateway Timeout',
};

/** Every status that fails a delivery, with its name. */
export const failingStatuses = Object.entries(failures).map(([status, name]) => ({
  status: Number(status) as FailingStatus,
  label: `${status} ${name}`,
}));

const delaysMs = [0, 500, 1_000, 3_000, 5_000];

/** The offered delays up to the longest one, and the current one if it was set over the API. */
export function delayOptions(mode: 'fail' | 'slow', current: number, msMax = 0) {
  const offered = new Set([
    ...[...delaysMs, msMax].filter((ms) => ms <= msMax && (mode === 'fail' || ms > 0)),
    current,
  ]);
  return [...offered]
    .toSorted((one, other) => one - other)
    .map((ms) => ({ value: String(ms), label: ms === 0 ? 'Immediately' : `After ${ms / 1_000} s` }));
}

/** What happens to a delivery, in one sentence. */
export function consequenceOf(behavior: Behavior, hasRetries: boolean, { webhookTimeoutMs }: Limits): string {
  const retried = hasRetries ? 'and is retried' : 'and is not retried';
  if (behavior.type === 'timeout') {
    const after = webhookTimeoutMs === undefined ? '' : `after ${durationText(webhookTimeoutMs / 1_000)} `;
    return `Each attempt fails ${after}without a response ${retried}.`;
  }
  if (behavior.responseStatus === 410) return 'The first delivery fails, and the endpoint is disabled.';
  if (behavior.responseStatus >= 300) return `Each attempt fails with ${behavior.responseStatus} ${retried}.`;
  return behavior.delayMs > 0
    ? `Each attempt succeeds after ${behavior.delayMs / 1_000} seconds.`
    : 'Each attempt succeeds immediately.';
}
