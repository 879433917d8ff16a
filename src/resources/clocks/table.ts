import type { Actor } from '../../kernel/command.ts';
import type { Id } from '../../kernel/ids.ts';
import { defineTable, type Instant } from '../../kernel/table.ts';
import type { Clock } from '../../kernel/time.ts';

export const clockStates = ['running', 'frozen'] as const;

/**
 * The application clock. It runs, with or without an offset from real time, or it is frozen. During an advance it is frozen
 * at the instant that the advance has reached, and `advance` names the request. `beginAdvance` sets it, each round of due
 * timers moves the clock, and `finishAdvance` clears it, even if the process that began the advance has died.
 */
export interface ClockRow extends Clock {
  readonly orgId: Id<'organization'>;
  readonly id: Id<'clock'>;
  readonly appId: Id<'application'>;
  readonly status: (typeof clockStates)[number];
  readonly version: number;
  readonly offsetMs: bigint;
  readonly frozenAt: Instant | null;
  readonly advance: Advancing | null;
  /** Wall time. */
  readonly leaseUntil: Instant | null;
  readonly createdAt: Instant;
  readonly updatedAt: Instant;
}

/** A pending advance, with everything needed to finish it on behalf of the request that began it. */
export interface Advancing {
  readonly to: Instant;
  readonly key: string;
  /** In base64. */
  readonly fingerprint: string;
  readonly requestId: Id<'request'>;
  /** Absent in advances that began before people could request them. */
  readonly actorKind?: Actor['kind'];
  readonly actorId: string;
  readonly ip: string | null;
  /** Counts the processes that have run this advance. A process that was presumed dead has an outdated number. */
  readonly turn: number;
}

export const clocksTable = defineTable<ClockRow>(
  'clocks',
  ['org_id', 'id'],
  {
    orgId: 'text',
    id: 'text',
    appId: 'text',
    status: 'text',
    version: 'integer',
    offsetMs: 'bigint',
    frozenAt: 'timestamptz',
    advance: 'jsonb',
    leaseUntil: 'timestamptz',
    createdAt: 'timestamptz',
    updatedAt: 'timestamptz',
  },
  { frozenAt: 'stands_at' },
);
