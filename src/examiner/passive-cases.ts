import { type Exchange, isAccepted, type PassiveCase, passed, type Verdict } from './case.ts';

function durationOf({ answer }: Exchange): number {
  return answer.durationMs ?? 0;
}

function textOf({ answer }: Exchange): string {
  return 'body' in answer ? (answer.body ?? '') : '';
}

/** Stack trace formats of common languages, as plain text and inside HTML. */
const traces: readonly RegExp[] = [
  /(?:^|\n|<br ?\/?>)(?:&nbsp;|\s)*at [^\n<]{1,300}:\d+:\d+/,
  /Traceback \(most recent call last\)/,
  /\bat [\w.$]+\([\w$]+\.(?:java|kt|scala):\d+\)/,
  /\.rb:\d+:in [`']/,
  /(?:^|\n)#\d+ [^\n]{1,300}\.php\(\d+\)/,
  /goroutine \d+ \[running\]/,
  /\bat [\w.`<>]+\([^)\n]*\) in [^\n]{1,300}:line \d+/,
];

const hasTrace = (exchange: Exchange) => traces.some((trace) => trace.test(textOf(exchange)));

/** Whether the response contains a secret, with or without its prefix, or a valid signature. */
function leaksSecret(exchange: Exchange, secrets: readonly string[]): boolean {
  const text = textOf(exchange);
  if (text === '') return false;
  const withoutPrefix = (value: string) => value.replace(/^(?:whsec_|v1,)/, '');
  const confidential = [...secrets, ...(exchange.message.unsentSignatures ?? [])];
  return confidential.some((value) => text.includes(withoutPrefix(value)));
}

const leak: Verdict = {
  outcome: 'failed',
  advice:
    'A response contains the secret, or the signature that would have been the right one, so an attacker can sign any event. Answer a rejection with a status and no details, and rotate the secret.',
  example: 'response.writeHead(401).end();',
  received: 'a secret or signature',
};

const trace: Verdict = {
  outcome: 'warned',
  advice:
    'A response contains a stack trace, which reveals which software your server runs and where its files are. Write it to your log, and answer with a status.',
  example: 'catch (error) { log.error(error); response.writeHead(500).end(); }',
  received: 'a stack trace',
};

export const passiveCases = {
  no_leaks: {
    why: 'Anybody can send you an invalid request and read your response.',
    expected: 'no secret, no trace',
    select: (all, { factory }) =>
      all.filter((exchange) => leaksSecret(exchange, factory.secrets) || hasTrace(exchange)).slice(0, 5),
    judge: (found, { factory }) => {
      if (found.some((exchange) => leaksSecret(exchange, factory.secrets))) return leak;
      return found.length > 0 ? trace : { ...passed, received: 'none' };
    },
  },
  quick_answer: {
    why: 'Senders have a timeout. A response after it counts as a failure, and the event is sent again, although you have it.',
    expected: 'within 5 s',
    select: (all) => {
      const alone = all.filter(
        (one) => !one.isConcurrent && one.message.dribble === undefined && isAccepted(one),
      );
      return alone.toSorted((a, b) => durationOf(b) - durationOf(a)).slice(0, 1);
    },
    judge: ([slowest], _context, { good, max }) => {
      const tookMs = slowest ? durationOf(slowest) : 0;
      const received = `${tookMs} ms at most`;
      if (tookMs < good) return { ...passed, received };
      return {
        outcome: tookMs < max ? 'warned' : 'failed',
        received,
        advice:
          'Verify, put the event into a queue or a table, answer, and do the work afterwards. Sandbank waits 10 seconds, others wait 5.',
        example: 'await queue.add(event); response.writeHead(202).end();',
      };
    },
  },
} as const satisfies Record<string, PassiveCase>;
