import {
  type Accepted,
  accepted,
  type Change,
  type CommandContext,
  type CommandKind,
  change,
  type PreparedCommand,
  type RequestedDelivery,
} from '../../kernel/command.ts';
import { refuse } from '../../kernel/errors.ts';
import { formatId, type Id } from '../../kernel/ids.ts';
import { instantToText } from '../../kernel/list.ts';
import { defineMachine } from '../../kernel/machine.ts';
import { type ReplayRow, replayStates } from './replay-table.ts';

/** A replay is running until it has read all events of its window. Each step creates the deliveries for some of them. */
export const replayMachine = defineMachine<ReplayRow>()({
  resource: 'replay',
  states: replayStates,
  moves: [
    { action: 'create', from: [], to: replayStates, event: 'created' },
    { action: 'continue', from: ['running'], to: replayStates, event: 'continued' },
  ],
});

export type Window = Pick<ReplayRow, 'windowFrom' | 'windowTo' | 'selection' | 'webhookId'>;

/** A delivery to create: its event, its endpoint and its id suffix. */
export interface Pair {
  readonly eventId: Id<'event'>;
  readonly eventType: string;
  readonly webhookId: Id<'webhook'>;
  readonly suffix: string;
}

/** The result of reading a batch of events, in order. */
export interface Step {
  readonly pairs: readonly Pair[];
  readonly cursor: string;
  readonly isLast: boolean;
}

export interface CreateReplay {
  readonly window: Window;
  readonly isDryRun: boolean;
  /** The application of the events; undefined if the requested endpoint does not exist. */
  readonly appId: Id<'application'> | undefined;
  readonly lastEventId: string;
  readonly step: Step;
  /** The number of matching pairs. A dry run only counts them. */
  readonly matched: number;
  /** Another replay of the application that is not finished. */
  readonly unfinishedId: string | null;
}

/** Most replays finish in less time. */
const retryAfterSeconds = 2;

/** Creates a replay with its first step. The worker executes any further steps. */
export const createReplay: PreparedCommand<CreateReplay> = {
  name: 'webhook_deliveries.replay',
  success: 'ok',
  needsPrepare: true,
  replaysEvents: true,
  reads: () => [],
  decide: ({ window, isDryRun, appId, lastEventId, step, matched, unfinishedId }, context) => {
    if (window.windowTo <= window.windowFrom)
      return refuse('invalid_request', { message: '`to` must be later than `from`.', param: '/to' });
    if (appId === undefined) return refuse('webhook_not_found', { param: '/webhookId' });
    if (unfinishedId !== null && !isDryRun)
      return refuse('replay_running', { details: { replayId: unfinishedId }, retryAfterSeconds });
    // From here it must succeed.
    const row: ReplayRow = {
      orgId: context.orgId,
      id: formatId('replay', context.suffix),
      appId,
      status: step.isLast ? 'completed' : 'running',
      version: 1,
      ...window,
      cursor: step.cursor,
      lastEventId,
      matched,
      replayed: step.pairs.length,
      createdAt: context.now,
      updatedAt: context.now,
    };
    if (isDryRun) {
      const shown = { ...presentReplay(row), id: null, dryRun: true };
      return { ok: true, changes: [], answer: { resource: 'replay', row, shown } };
    }
    return withDeliveries([change(replayMachine, 'create', null, row)], row, step, context);
  },
};

export interface ContinueReplay {
  readonly id: Id<'replay'>;
  /** The cursor at which the step begins. If another process has already executed it, the command changes nothing. */
  readonly from: string;
  readonly step: Step;
}

export const continueReplay: CommandKind<ContinueReplay> = {
  name: 'replays.continue',
  success: 'ok',
  replaysEvents: true,
  reads: ({ id }) => [{ resource: 'replay', id, lock: 'update' }],
  decide: ({ id, from, step }, context, rows) => {
    const before = rows.get<ReplayRow>('replay', id);
    if (!before) return refuse('resource_not_found');
    if (before.status !== 'running' || before.cursor !== from) return accepted([], 'replay', before);
    const row: ReplayRow = {
      ...before,
      status: step.isLast ? 'completed' : 'running',
      version: before.version + 1,
      cursor: step.cursor,
      matched: before.matched + step.pairs.length,
      replayed: before.replayed + step.pairs.length,
      updatedAt: context.now,
    };
    return withDeliveries([change(replayMachine, 'continue', before, row)], row, step, context);
  },
};

function withDeliveries(
  changes: readonly Change[],
  replay: ReplayRow,
  { pairs }: Step,
  { orgId, now }: CommandContext,
): Accepted {
  const deliveries: RequestedDelivery[] = pairs.map(({ eventId, eventType, webhookId, suffix }) => ({
    orgId,
    id: formatId('delivery', suffix),
    appId: replay.appId,
    webhookId,
    eventId,
    eventType,
    trigger: 'replay',
    replayId: replay.id,
    createdAt: now,
  }));
  return { ...accepted(changes, 'replay', replay), deliveries };
}

export function presentReplay(row: ReplayRow) {
  return {
    object: 'replay',
    sandbox: true,
    status: row.status,
    id: row.id,
    from: instantToText(row.windowFrom),
    to: instantToText(row.windowTo),
    select: row.selection,
    webhookId: row.webhookId,
    dryRun: false,
    matched: row.matched,
    replayed: row.replayed,
    createdAt: instantToText(row.createdAt),
    updatedAt: instantToText(row.updatedAt),
  } as const;
}
