import { X } from 'lucide-react';
import { useRead } from '../../client/queries.ts';
import type { ReplayProgress as Replay } from '../../generated/shapes.ts';
import { IconButton } from '../../parts/button.tsx';
import { Card } from '../../parts/card.tsx';
import { ProblemBanner } from '../../parts/problem.tsx';
import { Progress } from '../../parts/progress.tsx';
import { Skeleton } from '../../parts/skeleton.tsx';
import { pluralize } from '../../parts/text.ts';
import { Time } from '../../parts/time.tsx';
import { useRefresh } from '../deliveries/refresh.ts';

/** Progress of a replay. Its id is in the URL, so that the person can leave the page and return. */
export function ReplayProgress({ id, onClose }: { readonly id: string; readonly onClose: () => void }) {
  const { data, problem, refresh } = useRead<Replay>(
    `app/developer_api_webhook_replays/${encodeURIComponent(id)}`,
  );
  const pending = data?.deliveries?.pending ?? 0;
  useRefresh(refresh, data?.status === 'running' || pending > 0, 1_500);
  return (
    <Card
      title="Replay"
      description={data ? <Window replay={data} /> : undefined}
      actions={
        <IconButton
          label="Hide this replay"
          icon={<X aria-hidden size={16} />}
          size="small"
          onClick={onClose}
        />
      }
    >
      {problem && data === undefined ? <ProblemBanner problem={problem} onRetry={refresh} /> : null}
      {data === undefined && !problem ? <Skeleton className="h-10 w-full" /> : null}
      {data ? <Numbers replay={data} /> : null}
    </Card>
  );
}

function Window({ replay }: { readonly replay: Replay }) {
  const what = { failed: 'Failed events', missing: 'Events never sent', all: 'All events' }[replay.select];
  return (
    <>
      {what} from <Time at={replay.from} show="full" /> to <Time at={replay.to} show="full" />
    </>
  );
}

function Numbers({ replay }: { readonly replay: Replay }) {
  const { pending, succeeded, failed } = replay.deliveries ?? { pending: 0, succeeded: 0, failed: 0 };
  const done = succeeded + failed;
  // While the replay runs, the total is unknown.
  const value = replay.status === 'running' ? null : replay.replayed === 0 ? 1 : done;
  return (
    <div className="flex flex-col gap-2">
      <Progress label="Finished deliveries" value={value} max={Math.max(1, replay.replayed)} />
      <p role="status" className="text-sm text-muted">
        {replay.status === 'running' ? 'Still scanning the window. ' : ''}
        {pluralize(replay.replayed, 'delivery', 'deliveries')} created: {succeeded} succeeded, {failed}{' '}
        failed, {pending} pending.
      </p>
      {pending > 0 && replay.status === 'completed' ? (
        <p className="text-sm text-muted">
          Pending deliveries are retried on the application clock: advance it to finish them now.
        </p>
      ) : null}
    </div>
  );
}
