import type { Engine } from '../engine/engine.ts';
import { systemCommand } from '../engine/system-command.ts';
import type { Answer } from '../kernel/command.ts';
import type { Instant, Reader } from '../kernel/table.ts';
import { continueReplay } from '../resources/webhooks/replay-machine.ts';
import { findPairs, findRunning } from '../resources/webhooks/replay-store.ts';
import type { ReplayRow } from '../resources/webhooks/replay-table.ts';
import { drive, type Outcome, type Run } from './run.ts';

export interface ReplayerSettings {
  readonly engine: Engine;
  readonly reader: Reader;
  readonly wallClock: () => Instant;
}

const replaysMax = 10;
const stepsPerPollMax = 20;

/**
 * Continues replays that were too large for the request that created them. Several nodes may do this at once: each step
 * names its start cursor, and a step that another node has completed is not repeated.
 */
export class Replayer {
  readonly #settings: ReplayerSettings;

  constructor(settings: ReplayerSettings) {
    this.#settings = settings;
  }

  async continueRunning(): Promise<void> {
    const { reader } = this.#settings;
    for (const replay of await findRunning(reader, replaysMax))
      await drive(replayRun(this.#settings, replay));
  }
}

interface Progress {
  cursor: string;
  steps: number;
}

/** The request ran the first step; the last step completes the replay, so `finish` has nothing to do. */
function replayRun(
  { engine, reader, wallClock }: ReplayerSettings,
  replay: ReplayRow,
): Run<Progress, Answer> {
  const { orgId, id, appId, lastEventId } = replay;
  return {
    begin: async () => ({ value: { cursor: replay.cursor, steps: 0 } }),
    step: async (progress): Promise<Outcome<Answer> | 'again'> => {
      const { cursor } = progress;
      const page = await findPairs(reader, orgId, appId, replay, { after: cursor, last: lastEventId });
      const suffix = engine.idGenerator.background(orgId);
      const rowSuffix = engine.idGenerator.rowSuffixes(suffix);
      const pairs = page.pairs.map((pair) => ({ ...pair, suffix: rowSuffix() }));
      const input = { id, from: cursor, step: { pairs, cursor: page.cursor, isLast: page.isLast } };
      const answer = await engine.submit(
        systemCommand(continueReplay, input, { orgId, appId }, 'replays', wallClock(), suffix),
      );
      // The organization was reset in the meantime.
      if (answer.code === 'resource_not_found') return { answer };
      if (answer.code !== null) throw new Error(answer.body);
      progress.cursor = page.cursor;
      progress.steps += 1;
      if (page.isLast) return { value: answer };
      // The next poll continues, so that other replays get their turn.
      return progress.steps < stepsPerPollMax ? 'again' : { answer };
    },
    finish: async (answer) => answer,
  };
}
