import { randomUUID } from 'node:crypto';
import { expect } from 'vitest';
import { newSuffix } from '../../src/engine/ids.ts';
import { claim } from '../../src/http/idempotency.ts';
import type { Answer as Outcome } from '../../src/kernel/command.ts';
import type { Id } from '../../src/kernel/ids.ts';
import { type BeginAdvance, beginAdvance } from '../../src/resources/clocks/machine.ts';
import { findClock } from '../../src/resources/clocks/store.ts';
import type { ClockRow } from '../../src/resources/clocks/table.ts';
import { type FireTimers, fireTimers } from '../../src/resources/clocks/timer-commands.ts';
import type { Server } from '../../src/server.ts';
import { clock, secondMs } from '../support/clock.ts';
import { submission } from '../support/submission.ts';
import type { KeyHolder } from '../support/tenant.ts';

/** An advance that a process started but did not continue, as after a crash. */
export interface InterruptedAdvance {
  readonly idempotencyKey: string;
  readonly requestId: Id<'request'>;
  readonly body: { readonly seconds: number };
  /** Fires one round of timers as part of the advance. */
  fire(ids: readonly string[], round?: Partial<FireTimers>): Promise<Outcome>;
  clock(): Promise<ClockRow>;
}

export async function interruptAdvance(
  server: Server,
  holder: KeyHolder,
  seconds: number,
  wallNow: number,
): Promise<InterruptedAdvance> {
  const body = { seconds };
  const key = randomUUID();
  const idempotency = claim(key, 'POST', `/_api/${clock}/advance`, body);
  const input: BeginAdvance = {
    by: body,
    key,
    fingerprint: Buffer.from(idempotency.fingerprint).toString('base64'),
  };
  const begin = submission(holder, beginAdvance, input, { wallNow, idempotency });
  const begun = await server.engine.submit(begin);
  expect(begun.code, begun.body).toBeNull();
  const { requestId } = begin.context;
  return {
    idempotencyKey: key,
    requestId,
    body,
    fire: (ids, round = {}) => {
      const timers = ids.map((id) => ({ resource: id.startsWith('dsp_') ? 'dispute' : 'payment', id }));
      const stepsMax = 64;
      const suffixes = Array.from({ length: stepsMax }, newSuffix);
      const fired = { timers, until: wallNow + seconds * secondMs, stepsMax, turn: 1, suffixes, ...round };
      return server.engine.submit(submission(holder, fireTimers, fired, { wallNow, requestId }));
    },
    clock: async () => findClock(server.reader, holder, wallNow),
  };
}
