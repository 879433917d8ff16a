import type { Command } from 'commander';
import type { ListWebhookReplaysQuery, Replay, ReplayCreate, ReplayProgress } from '../../sdk/client.ts';
import { declare, group } from '../declare.ts';
import { instantOf } from '../follow.ts';
import { fieldValues } from '../generated/values.ts';
import { fields } from '../layout.ts';
import { type PageOptions, pageOptions, showPage, withoutUndefined } from '../paging.ts';
import { wrongUsage } from '../problem.ts';
import { choice, type Since, since } from '../reading.ts';

interface CreateOptions {
  readonly from?: Since;
  readonly to?: Since;
  readonly select: ReplayCreate['select'];
  readonly webhook?: string;
  readonly dryRun?: true;
}

export function addReplays(program: Command): void {
  const replays = group(program, 'replays', 'Replay the events of a time window');
  declare<CreateOptions>(replays, 'create', {
    summary: 'Send the events of a time window again: failed, missing or all',
    details:
      'failed: events that no delivery has delivered; missing: events that were never sent to the endpoint. Times are on the application clock. "sandbank events replay" sends a single event.',
    options: [
      ['--from <time>', 'start of the window: an instant, or a duration such as 2h ago', since],
      ['--to <time>', 'end of the window (now)', since],
      [
        '--select <events>',
        'failed, missing or all',
        choice(...fieldValues.replayWebhookDeliveries.select),
        'failed',
      ],
      ['--webhook <id>', 'only to this endpoint'],
      ['--dry-run', 'count the events, send nothing'],
    ],
    examples: [
      ['replays create --from 2h', 'events of the last two hours that failed'],
      ['replays create --from 2031-03-04T10:00:00Z --to 2031-03-04T12:00:00Z --select all --dry-run'],
    ],
    run: async (session, { from, to, select, webhook, dryRun }) => {
      if (from === undefined) throw wrongUsage('--from is missing: an instant, or a duration such as 2h.');
      const sandbank = await session.sandbank();
      const body = {
        from: await instantOf(sandbank, from),
        to: await instantOf(sandbank, to ?? { seconds: 0 }),
        select,
        webhookId: webhook,
        dryRun,
      };
      const replay = await sandbank.deliveries.replay(withoutUndefined(body));
      session.out.show(replay, () => replayText(replay));
      return undefined;
    },
  });
  declare<PageOptions & { readonly status?: string }>(replays, 'list', {
    summary: 'List replays, newest first',
    options: [
      ['--status <state>', 'running or completed', choice(...fieldValues.listWebhookReplays.status)],
      ...pageOptions,
    ],
    examples: [['replays list --status running']],
    run: async (session, { status, limit, cursor }) => {
      const query = withoutUndefined({ status, limit, cursor }) as ListWebhookReplaysQuery;
      const pages = (await session.sandbank()).replays.list(query);
      await showPage(session.out, pages, ['REPLAY', 'STATUS', 'SELECT', 'FROM', 'TO', 'REPLAYED'], (one) => [
        one.id ?? '',
        one.status,
        one.select,
        one.from,
        one.to,
        String(one.replayed),
      ]);
      return undefined;
    },
  });
  declare(replays, 'get <id>', {
    summary: 'Show a replay and the status of its deliveries',
    examples: [['replays get rpl_...']],
    run: async (session, _options, id = '') => {
      const replay = await (await session.sandbank()).replays.retrieve(id);
      session.out.show(replay, () => replayText(replay));
      return undefined;
    },
  });
}

function replayText(replay: Replay | ReplayProgress): string {
  const { id, status, select, from, to, webhookId, dryRun, matched, replayed } = replay;
  return fields([
    ['replay', id ?? 'dry run: nothing was sent'],
    ['status', status],
    ['select', select],
    ['from', from],
    ['to', to],
    ['endpoint', webhookId],
    ['matched', matched],
    ['replayed', dryRun ? undefined : replayed],
    ...('deliveries' in replay ? Object.entries(replay.deliveries) : []),
  ]);
}
