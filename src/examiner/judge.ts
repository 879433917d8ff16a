import { type Exchange, isAccepted, passed, statusOf, type Verdict } from './case.ts';

export interface Mending {
  readonly advice: string;
  readonly example?: string;
}

/** Every request must be answered with 2xx. */
export function mustAccept({ advice, example }: Mending): (exchanges: readonly Exchange[]) => Verdict {
  return (exchanges) => {
    const bad = exchanges.find((exchange) => !isAccepted(exchange));
    if (!bad) return passed;
    // What the status itself says comes first: a limit of the server in front is no fault of the handler.
    const plain = plainReason(bad);
    return {
      outcome: 'failed',
      advice: plain === undefined ? advice : `${plain} ${advice}`,
      example: example ?? null,
    };
  };
}

/** Every request must be answered with 4xx. What is not accepted but makes the receiver stumble is a warning. */
export function mustRefuse({ advice, example }: Mending): (exchanges: readonly Exchange[]) => Verdict {
  return (exchanges) => {
    if (exchanges.some(isAccepted)) return { outcome: 'failed', advice, example: example ?? null };
    const odd = exchanges.find(({ answer }) => !isRefusal(statusOf(answer)));
    return odd
      ? { outcome: 'warned', advice: stumbling(statusOf(odd.answer)), example: stumblingLine }
      : passed;
  };
}

function isRefusal(status: number | null): boolean {
  return status !== null && status >= 400 && status < 500;
}

function stumbling(status: number | null): string {
  if (status === null)
    return 'It was not accepted, but no answer came: most likely an error was thrown and nothing caught it, so the request hangs or the connection is cut. Anybody can do that to your server. Catch what the verification throws and answer 401.';
  if (status < 400)
    return `It was not accepted, but answered with the redirect ${status}, as a page for people would. Answer 401: a sender follows no redirect.`;
  return `It was not accepted, but answered ${status}, as if your server were broken: most likely the verification threw an error and nothing caught it. Senders repeat what fails with 5xx, and your alarms go off for every forged request. Answer 401.`;
}

const stumblingLine =
  'try { event = webhook.verify(rawBody, headers) } catch { return response.writeHead(401).end() }';

const reasons: Readonly<Record<number, string>> = {
  401: 'It was refused as if its signature were wrong, and it is not.',
  403: 'It was refused as if its signature were wrong, and it is not.',
  404: 'There is nothing at this path, or the handler answers 404 for a record that it does not know: accept such events, and ignore them.',
  405: 'This path takes no POST: check the URL of the webhook.',
  413: 'The body is too large for your server, or for a proxy in front of it.',
  415: 'Your server does not read `application/json`.',
  429: 'Your server, or a proxy in front of it, limits how often it is called: let webhooks through.',
};

/** What a status says by itself, whatever the case is about. */
export function plainReason({ answer }: Exchange): string | undefined {
  const status = statusOf(answer);
  if (status === null) return 'error' in answer ? `No answer came. ${answer.error}` : undefined;
  if (status >= 300 && status < 400)
    return `It answered with the redirect ${status}, and no redirect is ever followed: make the URL of the webhook the one that it leads to.`;
  if (status >= 500) return `It answered ${status}: your log has the error.`;
  return reasons[status];
}

/** What came, in a few words: `401`, `204, then 409`, `18 × 200, 2 × 503`. */
export function receivedWords(exchanges: readonly Exchange[]): string {
  const words = exchanges.map(({ answer }) => String(statusOf(answer) ?? 'no answer'));
  if (words.length <= 2) return words.join(', then ');
  const counts = new Map<string, number>();
  for (const word of words) counts.set(word, (counts.get(word) ?? 0) + 1);
  return [...counts].map(([word, count]) => `${count} × ${word}`).join(', ');
}
