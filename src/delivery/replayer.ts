import type { Engine } from '../engine/engine.ts';
import { systemCommand } from '../engine/system-command.ts';
import type { Reader } from '../kernel/route.ts';
import type { Instant } from '../kernel/table.ts';
import { continueReplay } from '../resources/webhooks/replay-machine.ts';
import { findPairs, findRunning } from '../resources/webhooks/replay-store.ts';
import type { ReplayRow } from '../resources/webhooks/replay-table.ts';

export interface ReplayerSettings {
  readonly engine: Engine;
  readonly reader: Reader;
  readonly wallClock: () => Instant;
}

const replaysMax = 10;
const stepsInRoundMax = 20;

/**
 * Carries on replays that were too large for the request that asked for them. Any number of nodes may do this at once: a step
 * says where it begins, and one that somebody else has made is not made again.
 */
export class Replayer {
  readonly #settings: ReplayerSettings;

  constructor(settings: ReplayerSettings) {
    this.#settings = settings;
  }

  async goOn(): Promise<void> {
    for (const replay of await findRunning(this.#settings.reader, replaysMax)) await this.#continue(replay);
  }

  async #continue(replay: ReplayRow): Promise<void> {
    const { engine, reader, wallClock } = this.#settings;
    const { orgId, id, appId, lastEventId } = replay;
    let { cursor } = replay;
    for (let made = 0; made < stepsInRoundMax; made += 1) {
      const look = await findPairs(reader, orgId, appId, replay, { after: cursor, last: lastEventId });
      const suffix = engine.idGenerator.background(orgId);
      const rowSuffix = engine.idGenerator.rowSuffixes(suffix);
      const pairs = look.pairs.map((pair) => ({ ...pair, suffix: rowSuffix() }));
      const input = { id, from: cursor, step: { pairs, cursor: look.cursor, isLast: look.isLast } };
      const answer = await engine.submit(
        systemCommand(continueReplay, input, { orgId, appId }, 'replays', wallClock(), suffix),
      );
      // The organization was reset meanwhile.
      if (answer.code === 'resource_not_found') return;
      if (answer.code !== null) throw new Error(answer.body);
      if (look.isLast) return;
      cursor = look.cursor;
    }
  }
}
