import type { Id } from '../../kernel/ids.ts';
import { limits } from '../../kernel/limits.ts';
import type { Ports, Prepare } from '../../kernel/prepare.ts';
import type { CreateReplay, Pair, Step } from './replay-machine.ts';
import { findNewestEvent, findPairs, findUnfinishedReplay } from './replay-store.ts';
import { findWebhookFor } from './store.ts';

const dryRunMsMax = 20_000;
const firstStepMsMax = 2_000;

type Requested = Pick<CreateReplay, 'window' | 'isDryRun'>;

/** Finds the events of the first step. A dry run counts all of them and creates nothing. */
export const prepareCreateReplay: Prepare<Requested, CreateReplay, undefined> = async (
  { requested, request: { context }, submit },
  ports,
) => {
  const { window, isDryRun } = requested;
  const webhook =
    window.webhookId === null ? null : await findWebhookFor(ports.reader, context, window.webhookId);
  const appId = webhook === null ? (context.appId ?? undefined) : webhook?.appId;
  const submitReplay = async (unfinishedId: CreateReplay['unfinishedId']) =>
    submit(await firstStepOf(requested, { ...context, appId, unfinishedId }, ports));
  if (isDryRun) return submitReplay(null);
  // Requests of one application run one after the other, so that each sees the replay of the one before it.
  return ports.mutex.run(`replays ${appId}`, async () =>
    submitReplay((appId && (await findUnfinishedReplay(ports.reader, context.orgId, appId))) ?? null),
  );
};

interface Scope extends Pick<CreateReplay, 'appId' | 'unfinishedId'> {
  readonly orgId: Id<'organization'>;
  readonly suffix: string;
}

async function firstStepOf(
  { window, isDryRun }: Requested,
  { orgId, suffix, appId, unfinishedId }: Scope,
  { reader, ids }: Ports,
): Promise<CreateReplay> {
  const last = await findNewestEvent(reader, orgId);
  const pairs: Pair[] = [];
  let [cursor, isLast, matched] = ['', appId === undefined || unfinishedId !== null, 0];
  const rowSuffix = ids.rowSuffixes(suffix);
  const until = performance.now() + (isDryRun ? dryRunMsMax : firstStepMsMax);
  while (appId !== undefined && !isLast && performance.now() < until) {
    if (pairs.length > limits.replayStepMax / 2) break;
    const pairsMax = limits.replayStepMax - pairs.length;
    const found = await findPairs(reader, orgId, appId, window, { after: cursor, last, pairsMax });
    if (!isDryRun) for (const pair of found.pairs) pairs.push({ ...pair, suffix: rowSuffix() });
    matched += found.pairs.length;
    cursor = found.cursor;
    isLast = found.isLast;
  }
  const step: Step = { pairs, cursor, isLast };
  return { window, isDryRun, appId, lastEventId: last, step, matched, unfinishedId };
}
