import { useNow } from '../../client/now.ts';
import { Time, type TimeProps } from '../../parts/time.tsx';

/** An attempt that is due is sent now: a time relative to the clock would be in the past. */
export function NextAttemptTime({ at, show }: Pick<TimeProps, 'at' | 'show'>) {
  const now = useNow('application', 1_000);
  if (typeof at === 'string' && Date.parse(at) <= now) return 'Due now';
  return <Time at={at} {...(show === undefined ? {} : { show })} mayBeAhead />;
}
