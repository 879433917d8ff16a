import { type Exchange, isAccepted, passed, statusOf, type Verdict } from './case.ts';

export interface Advice {
  readonly advice: string;
  readonly example?: string;
}

/** The receiver must answer 2xx to every request. */
export function mustAccept({ advice, example }: Advice): (exchanges: readonly Exchange[]) => Verdict {
  return (exchanges) => {
    const bad = exchanges.find((exchange) => !isAccepted(exchange));
    if (!bad) return passed;
    // The general meaning of the status comes first: a limit of a proxy is not a bug of the handler.
    const plain = plainReason(bad);
    return {
      outcome: 'failed',
      advice: plain === undefined ? advice : `${plain} ${advice}`,
      example: example ?? null,
    };
  };
}

/** The receiver must answer 4xx to every request. Any other response that is not 2xx is a warning. */
export function mustReject({ advice, example }: Advice): (exchanges: readonly Exchange[]) => Verdict {
  return (exchanges) => {
    if (exchanges.some(isAccepted)) return { outcome: 'failed', advice, example: example ?? null };
    const odd = exchanges.find(({ answer }) => !isRefusal(statusOf(answer)));
    return odd
      ? {
          outcome: 'warned',
          advice: unexpectedRejectionAdvice(statusOf(odd.answer)),
          example: unexpectedRejectionExample,
        }
      : passed;
  };
}

function isRefusal(status: number | null): boolean {
  return status !== null && status >= 400 && status < 500;
}

function unexpectedRejectionAdvice(status: number | null): string {
  if (status === null)
    return 'The event was not accepted, but no answer came: most likely an uncaught error left the request hanging or closed the connection. Anybody can do that to your server. Catch the verification error and answer 401.';
  if (status < 400)
    return `The event was not accepted, but the receiver answered with the redirect ${status}. Answer 401: senders do not follow redirects.`;
  return `The event was not accepted, but the receiver answered ${status}: most likely the verification threw an uncaught error. Senders retry after a 5xx, and every forged request raises an alert. Answer 401.`;
}

const unexpectedRejectionExample =
  'try { event = webhook.verify(rawBody, headers) } catch { return response.writeHead(401).end() }';

const reasons: Readonly<Record<number, string>> = {
  401: 'The receiver rejected a valid signature.',
  403: 'The receiver rejected a valid signature.',
  404: 'There is nothing at this path, or the handler answers 404 for a record that it does not know: accept such events and ignore them.',
  405: 'This path does not accept POST: check the URL of the webhook.',
  413: 'The body is too large for your server, or for a proxy in front of it.',
  415: 'Your server does not read `application/json`.',
  429: 'Your server, or a proxy in front of it, limits the request rate: exempt webhooks from it.',
};

/** The general meaning of a status, independent of the case. */
export function plainReason({ answer }: Exchange): string | undefined {
  const status = statusOf(answer);
  if (status === null) return 'error' in answer ? `No answer came. ${answer.error}` : undefined;
  if (status >= 300 && status < 400)
    return `The receiver answered with the redirect ${status}, and webhook deliveries never follow redirects: set the webhook's URL to the redirect target.`;
  if (status >= 500) return `The receiver answered ${status}: check its log for the error.`;
  return reasons[status];
}

/** A summary of the statuses: `401`, `204, then 409`, `18 × 200, 2 × 503`. */
export function receivedSummary(exchanges: readonly Exchange[]): string {
  const statuses = exchanges.map(({ answer }) => String(statusOf(answer) ?? 'no answer'));
  if (statuses.length <= 2) return statuses.join(', then ');
  const counts = new Map<string, number>();
  for (const status of statuses) counts.set(status, (counts.get(status) ?? 0) + 1);
  return [...counts].map(([status, count]) => `${count} × ${status}`).join(', ');
}
