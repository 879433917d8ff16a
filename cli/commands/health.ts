import { setTimeout as delay } from 'node:timers/promises';
import type { Command } from 'commander';
import { declare } from '../declare.ts';
import { CliProblem, exits } from '../problem.ts';
import { duration } from '../reading.ts';
import type { Session } from '../session.ts';

const responseMsMax = 2_500;
const waitSecondsMax = 3_600;
const pauseMs = 100;

export function addHealth(program: Command): void {
  declare<{ readonly wait?: number }>(program, 'health', {
    summary: 'Check whether the server is ready to serve requests',
    details:
      'Needs no API key. Exits with 1 while the server is not ready, and with 3 if it cannot be reached.',
    options: [['--wait <duration>', 'how long to wait until it is ready, such as 60s; at most 1h', waitTime]],
    examples: [
      ['health', 'for the health check of a container'],
      ['health --wait 60s', 'in a script that has started a server in the background'],
    ],
    run: async (session, { wait = 0 }) => {
      const deadline = performance.now() + wait * 1_000;
      session.out.progress('Waiting for the server...');
      for (;;) {
        const { url, problem } = await check(session);
        if (problem === undefined) {
          session.out.show(
            { object: 'health', sandbox: true, status: 'ready', url },
            () => `${url} is ready`,
          );
          return undefined;
        }
        if (performance.now() >= deadline) throw problem;
        await delay(pauseMs);
      }
    },
  });
}

function waitTime(text: string): number {
  return Math.min(duration(text), waitSecondsMax);
}

interface Checked {
  readonly url: string;
  readonly problem: CliProblem | undefined;
}

/** The settings are read at every check: a server that starts meanwhile writes its address to the connection file. */
async function check(session: Session): Promise<Checked> {
  const { url, origins } = session.readSettings();
  const file = session.env.SANDBANK_CONNECTION_FILE;
  if (file && origins.url === 'default')
    return { url, problem: unreachable(`There is no connection file ${file}: no server has started.`) };
  try {
    const response = await fetch(new URL('/readyz', url), { signal: AbortSignal.timeout(responseMsMax) });
    await response.body?.cancel();
    return { url, problem: problemOf(url, response) };
  } catch (error) {
    return { url, problem: unreachable(`${url} cannot be reached: ${reasonOf(error)}.`) };
  }
}

function problemOf(url: string, { ok, status, headers }: Response): CliProblem | undefined {
  if (!headers.has('api-version'))
    return new CliProblem(`${url} is not a Sandbank server. Check the address.`);
  return ok ? undefined : new CliProblem(`${url} is not ready (status ${status}). See the server log.`);
}

const unreachable = (message: string) => new CliProblem(message, exits.unreachable);

function reasonOf(error: unknown): string {
  const { message, cause } = error as Error & { readonly cause?: NodeJS.ErrnoException };
  return cause?.code ?? message;
}
