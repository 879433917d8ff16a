import { type Exchange, isAccepted, passed, type Verdict, type WatchingCase } from './case.ts';

function durationOf({ answer }: Exchange): number {
  return answer.durationMs ?? 0;
}

function textOf({ answer }: Exchange): string {
  return 'body' in answer ? (answer.body ?? '') : '';
}

/** How the languages that people write receivers in print where they were; also inside a page of HTML. */
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

/** A secret, with its prefix or without, or a signature that would have been good. */
function givesAway(exchange: Exchange, secrets: readonly string[]): boolean {
  const text = textOf(exchange);
  if (text === '') return false;
  const bare = (words: string) => words.replace(/^(?:whsec_|v1,)/, '');
  const kept = [...secrets, ...(exchange.message.untold ?? [])];
  return kept.some((words) => text.includes(bare(words)));
}

const leak: Verdict = {
  outcome: 'failed',
  advice:
    'An answer holds the secret, or the signature that would have been the right one: whoever gets it can sign what they like. Answer a refusal with a status and no details, and rotate the secret.',
  example: 'response.writeHead(401).end();',
  received: 'a secret or signature',
};

const trace: Verdict = {
  outcome: 'warned',
  advice:
    'An answer shows a stack trace, which tells strangers what your server runs and where its files are. Write it to your log, and answer with a status.',
  example: 'catch (error) { log.error(error); response.writeHead(500).end(); }',
  received: 'a stack trace',
};

export const watchingCases = {
  no_leaks: {
    why: 'Anybody can send you a request that you refuse, and read how you refuse it.',
    expected: 'no secret, no trace',
    watch: (all, { forge }) =>
      all.filter((exchange) => givesAway(exchange, forge.secrets) || hasTrace(exchange)).slice(0, 5),
    judge: (found, { forge }) => {
      if (found.some((exchange) => givesAway(exchange, forge.secrets))) return leak;
      return found.length > 0 ? trace : { ...passed, received: 'none' };
    },
  },
  quick_answer: {
    why: 'Nobody waits for ever. An answer that comes too late counts as none, and the event is sent again, although you have it.',
    expected: 'within 5 s',
    watch: (all) => {
      const alone = all.filter(
        (one) => !one.isCrowded && one.message.dribble === undefined && isAccepted(one),
      );
      return alone.toSorted((a, b) => durationOf(b) - durationOf(a)).slice(0, 1);
    },
    judge: ([slowest], _bench, { good, max }) => {
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
} as const satisfies Record<string, WatchingCase>;
