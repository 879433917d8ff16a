import type { Command } from 'commander';
import type { Clock, ClockAdvanced, Sandbank } from '../../sdk/client.ts';
import { declare, group } from '../declare.ts';
import { fields, table } from '../layout.ts';
import { CliProblem, wrongUsage } from '../problem.ts';
import { duration, time } from '../reading.ts';
import type { Session } from '../session.ts';

/** Two million steps: one call runs at most 10,000. */
const callsMax = 200;

export function addClock(program: Command): void {
  const clock = group(program, 'clock', 'Read and move the application clock');
  declare(clock, 'show', {
    summary: 'Show the time of the application clock',
    examples: [['clock show']],
    run: async (session) => show(session, await (await session.sandbank()).clock.retrieve()),
  });
  declare<{ readonly to?: string }>(clock, 'advance [duration]', {
    summary: 'Move the clock forward and run due timers in order',
    details: 'A duration combines w, d, h, m and s, such as 3d4h.',
    options: [['--to <time>', 'move the clock to this instant', time]],
    examples: [['clock advance 3d4h'], ['clock advance --to 2031-03-04T10:00:00Z']],
    run: async (session, { to }, text) => {
      if ((to === undefined) === (text === undefined))
        throw wrongUsage('Pass either a duration such as 3d4h or --to TIME.');
      const seconds = text === undefined ? undefined : readDuration(text);
      const sandbank = await session.sandbank();
      const { clock: api } = sandbank;
      let answer = await api.advance(seconds === undefined ? { to: to ?? '' } : { seconds });
      const happened = [...answer.happened];
      for (let call = 1; !answer.complete; call += 1) {
        const target = answer.left?.to;
        if (target === undefined || call >= callsMax)
          throw new CliProblem(
            `The clock is at ${answer.now}; ${callsMax} calls were not enough to run everything that is due. Advance again.`,
          );
        session.out.progress(`${happened.length} steps done, the clock is at ${answer.now}...`);
        answer = await api.advance({ to: target });
        happened.push(...answer.happened);
      }
      const whole = { ...answer, happened };
      session.out.show(whole, () => advancedText(whole));
      if (!session.out.isJson) await reportDisabled(session, sandbank);
      return undefined;
    },
  });
  declare(clock, 'freeze', {
    summary: 'Stop the clock at its current time',
    examples: [['clock freeze']],
    run: async (session) => show(session, await (await session.sandbank()).clock.freeze()),
  });
  declare(clock, 'resume', {
    summary: 'Let a frozen clock run on from its time',
    examples: [['clock resume']],
    run: async (session) => show(session, await (await session.sandbank()).clock.resume()),
  });
  declare(clock, 'reset', {
    summary: 'Reset to real time',
    examples: [['clock reset']],
    run: async (session) => show(session, await (await session.sandbank()).clock.reset()),
  });
}

function readDuration(text: string): number {
  try {
    return duration(text);
  } catch (error) {
    throw wrongUsage(`"${text}" is not a valid duration. ${error instanceof Error ? error.message : ''}`);
  }
}

function show(session: Session, clock: Clock): undefined {
  session.out.show(clock, () => clockText(clock));
  return undefined;
}

function clockText({ now, status, offsetSeconds }: Clock): string {
  return fields([
    ['now', now],
    ['status', status],
    ['ahead', offsetSeconds === 0 ? '0s (real time)' : spanText(offsetSeconds)],
  ]);
}

function spanText(seconds: number): string {
  const days = Math.floor(seconds / 86_400);
  const hours = Math.floor((seconds % 86_400) / 3_600);
  const minutes = Math.floor((seconds % 3_600) / 60);
  return `${days}d ${hours}h ${minutes}m ${seconds % 60}s`;
}

function advancedText(answer: ClockAdvanced): string {
  const { happened, next, now } = answer;
  const rows = happened.map((one) => [one.at, one.type, one.id, one.action, one.to ?? '']);
  const steps =
    rows.length === 0 ? 'Nothing was due.' : table(['AT', 'RESOURCE', 'ID', 'ACTION', 'STATUS'], rows);
  const clock = clockText(answer);
  // Only a complete advance reports it, and only a server that supports the field.
  if (next === undefined) return `${steps}\n\n${clock}`;
  if (next === null) return `${steps}\n\n${clock}\nnext    nothing is scheduled`;
  const wait = spanText(Math.ceil((Date.parse(next.at) - Date.parse(now)) / 1_000));
  const what = next.id ?? `a webhook ${next.type}`;
  return `${steps}\n\n${clock}\nnext    ${what} at ${next.at}, in ${wait}`;
}

const disabledMax = 5;

/** An endpoint that fails for days is disabled, and here days pass within one command. */
async function reportDisabled({ out }: Session, sandbank: Sandbank): Promise<void> {
  const page = await sandbank.webhooks
    .list({ status: 'disabled', limit: disabledMax })
    .catch(() => undefined);
  for (const { id, url, disabledReason } of page?.data ?? [])
    if (disabledReason !== 'requested')
      out.say(
        out.paintAside.yellow(
          `${url} is disabled (${disabledReason}). Run "sandbank webhooks enable ${id}" to send its held events.`,
        ),
      );
}
