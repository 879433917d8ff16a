import { X } from 'lucide-react';
import { useRead } from '../../client/queries.ts';
import type { Replay } from '../../client/shapes.ts';
import { IconButton } from '../../parts/button.tsx';
import { Card } from '../../parts/card.tsx';
import { ProblemBanner } from '../../parts/problem.tsx';
import { Progress } from '../../parts/progress.tsx';
import { Skeleton } from '../../parts/skeleton.tsx';
import { Time } from '../../parts/time.tsx';
import { count } from '../../parts/words.ts';
import { useRefresh } from '../deliveries/refresh.ts';

/** What has come of a replay so far. Its id lives in the URL, so that it can be left and come back to. */
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
  const what = { failed: 'What failed', missing: 'What was never sent', all: 'Everything' }[replay.select];
  return (
    <>
      {what} from <Time at={replay.from} show="absolute" /> to <Time at={replay.to} show="absolute" />
    </>
  );
}

function Numbers({ replay }: { readonly replay: Replay }) {
  const { pending, succeeded, failed } = replay.deliveries ?? { pending: 0, succeeded: 0, failed: 0 };
  const done = succeeded + failed;
  // While it runs, nobody knows how many there will be.
  const value = replay.status === 'running' ? null : replay.replayed === 0 ? 1 : done;
  return (
    <div className="flex flex-col gap-2">
      <Progress label="Deliveries that came to an end" value={value} max={Math.max(1, replay.replayed)} />
      <p role="status" className="text-sm text-muted">
        {replay.status === 'running' ? 'Still looking through the window. ' : ''}
        {count(replay.replayed, 'delivery', 'deliveries')} made: {succeeded} succeeded, {failed} failed,{' '}
        {pending} pending.
      </p>
      {pending > 0 && replay.status === 'completed' ? (
        <p className="text-sm text-muted">
          Pending ones are tried again by the application’s clock: advance it to see the rest now.
        </p>
      ) : null}
    </div>
  );
}
