import type { Sandbank } from '../../sdk/client.ts';
import { isSandbankError } from '../failure.ts';
import { keyAdvice } from '../settings.ts';
import { type CheckContext, type Finding, fail, ok, warn } from './check.ts';

const skewMsMax = 5_000;
const answerMsMax = 5_000;
const failingMax = 5;

export interface Reached {
  readonly isReachable: boolean;
  readonly findings: readonly Finding[];
}

/** Whether a server responds, and whether its clock agrees with this machine. */
export async function checkServer({ session: { settings } }: CheckContext): Promise<Reached> {
  const { url, origins } = settings;
  const from = {
    flag: '--url',
    environment: 'SANDBANK_URL',
    'connection file': settings.connectionFile,
    default: 'the default',
    none: '',
  }[origins.url];
  const fix = 'Start it with "sandbank start", or pass its address with --url or SANDBANK_URL.';
  try {
    const since = Date.now();
    const answer = await fetch(new URL('/readyz', url), { signal: AbortSignal.timeout(answerMsMax) });
    const tookMs = Date.now() - since;
    const body = await answer.text();
    if (!body.includes('"sandbox":true'))
      return {
        isReachable: false,
        findings: [fail('server', `${url} responds, but is not a Sandbank server`, 'Check the address.')],
      };
    const ready = answer.ok
      ? ok('server', `${url} (from ${from}) is ready`)
      : fail(
          'server',
          `${url} is not ready (${answer.status})`,
          'Check its log; usually the database is unreachable.',
        );
    return { isReachable: true, findings: [ready, ...skew(answer.headers.get('date'), since + tookMs / 2)] };
  } catch (error) {
    const { code } = ((error as { cause?: unknown }).cause ?? {}) as { code?: string };
    return {
      isReachable: false,
      findings: [
        fail(
          'server',
          `${url} (from ${from}) cannot be reached${code === undefined ? '' : `: ${code}`}`,
          fix,
        ),
      ],
    };
  }
}

/** Webhook signatures carry a time, and receivers reject one that is five minutes off. The header has whole seconds. */
export function skew(date: string | null, now: number): readonly Finding[] {
  const at = date === null ? Number.NaN : Date.parse(date);
  if (Number.isNaN(at)) return [];
  const offMs = Math.abs(now - at);
  if (offMs <= skewMsMax) return [ok('time', 'this machine and the server agree')];
  return [
    warn(
      'time',
      `this machine and the server are ${Math.round(offMs / 1_000)} seconds apart`,
      'Synchronize both with NTP: receivers reject signatures that are too old.',
    ),
  ];
}

/** Whether the key is valid, and the health of its application's endpoints. */
export async function checkKey({ session }: CheckContext): Promise<readonly Finding[]> {
  const { origins } = session.settings;
  if (session.settings.apiKey === undefined)
    return [warn('key', 'there is no API key', keyAdvice(session.settings))];
  try {
    const sandbank = await session.sandbank({ retriesMax: 0 });
    const { apiKey, organization } = await sandbank.status();
    return [
      ok('key', `${apiKey.name} of ${organization.name} (from ${origins.apiKey})`),
      ...(await checkWebhooks(sandbank)),
    ];
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    return [
      fail(
        'key',
        message,
        isSandbankError(error) && error.status === 401
          ? 'Create another one with "sandbank keys create", or in the console.'
          : 'Follow the message.',
      ),
    ];
  }
}

async function checkWebhooks(sandbank: Sandbank): Promise<readonly Finding[]> {
  const page = await sandbank.webhooks.list({ limit: 100 }).catch(() => undefined);
  if (page === undefined)
    return [warn('webhooks', 'this key cannot read endpoints', 'Use a key with the scope webhooks:read.')];
  if (page.data.length === 0)
    return [ok('webhooks', 'none are registered; "sandbank listen" forwards events without one')];
  const disabled = page.data.filter(({ status }) => status === 'disabled');
  const enabled = page.data.filter(({ status }) => status === 'enabled');
  const details = await Promise.all(enabled.map(({ id }) => sandbank.webhooks.retrieve(id)));
  const failing = details.filter(({ health }) => health.failingSince !== null);
  const found = [
    ...disabled.map(({ id, url, disabledReason }) =>
      warn(
        'webhooks',
        `${url} is disabled (${disabledReason})`,
        `Fix the receiver, then run "sandbank webhooks enable ${id}".`,
      ),
    ),
    ...failing.map(({ id, url, health }) =>
      warn(
        'webhooks',
        `${url} has been failing since ${health.failingSince}`,
        `Run "sandbank webhooks test ${id}" to see its response.`,
      ),
    ),
  ];
  return found.length === 0
    ? [ok('webhooks', `${enabled.length} enabled, none is failing`)]
    : found.slice(0, failingMax);
}
