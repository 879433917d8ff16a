import type { Clock } from '../../kernel/clock.ts';
import type { Actor } from '../../kernel/command.ts';
import { defineTable, type Instant } from '../../kernel/table.ts';

export const clockStates = ['running', 'frozen'] as const;

/**
 * The clock of an application. It runs, ahead of real time or not, or it is frozen. While it is advanced it stands at the
 * instant that was reached, and `advance` says by whom: that is entered by `begin`, moved by each round of due timers, and
 * left by `finish`, also when the process that began it is gone.
 */
export interface ClockRow extends Clock {
  readonly orgId: string;
  readonly id: string;
  readonly appId: string;
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

/** An advance under way, with all that is needed to end it in the name of the request that began it. */
export interface Advancing {
  readonly to: Instant;
  readonly key: string;
  /** In base64. */
  readonly fingerprint: string;
  readonly requestId: string;
  /** Absent in an advance that began before people could ask for one. */
  readonly actorKind?: Actor['kind'];
  readonly actorId: string;
  readonly ip: string | null;
  /** Counts the processes that took it up. One that was taken for dead and goes on has the wrong number. */
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
