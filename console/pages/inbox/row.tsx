import { ChevronRight, ShieldAlert, ShieldCheck } from 'lucide-react';
import { useContext, useId, useState } from 'react';
import { ClockContext, formatRelative, useNow } from '../../client/now.ts';
import { useRead } from '../../client/queries.ts';
import type { AttemptOutcome, DeliveryDetail, DeliveryWithAttempts } from '../../generated/shapes.ts';
import { Anchor } from '../../parts/anchor.tsx';
import { buttonClass } from '../../parts/button.tsx';
import { JsonView } from '../../parts/json-view.tsx';
import { ProblemBanner } from '../../parts/problem.tsx';
import { Skeleton } from '../../parts/skeleton.tsx';
import { HttpStatus } from '../../parts/status-badge.tsx';
import { classes } from '../../parts/text.ts';
import { Time } from '../../parts/time.tsx';
import { AttemptList } from '../deliveries/attempt.tsx';
import { ReplayButton } from '../deliveries/replay-button.tsx';
import { DeliveryStatus } from '../deliveries/table.tsx';
import { ShortLink } from '../log/short-link.tsx';

/** Rows and their heading have the same columns. */
export const columns =
  'lg:grid lg:grid-cols-[7.5rem_minmax(11rem,1fr)_8rem_minmax(0,11rem)_5.5rem_11rem] lg:items-center lg:gap-3';

/** One delivery. The whole row expands it; only then its body and headers are read. */
export function InboxRow({
  delivery,
  isNew,
}: {
  readonly delivery: DeliveryWithAttempts;
  readonly isNew: boolean;
}) {
  const [isOpen, setOpen] = useState(false);
  const id = useId();
  const { eventType, recordId, eventId, attempts, createdAt } = delivery;
  return (
    <li className={classes('border-b last:border-b-0', isNew && 'row-in')}>
      <div
        className={classes(
          'relative flex flex-wrap items-center gap-x-3 gap-y-1 px-5 py-2 text-sm hover:bg-hover',
          columns,
        )}
      >
        <span className="text-muted max-lg:order-last max-lg:ml-auto">
          <Time at={createdAt} />
        </span>
        <button
          type="button"
          aria-expanded={isOpen}
          aria-controls={id}
          onClick={() => setOpen(!isOpen)}
          className="flex min-w-0 items-center gap-2 text-left after:absolute after:inset-0 focus-visible:outline-none focus-visible:after:outline-2 focus-visible:after:-outline-offset-2 focus-visible:after:outline-accent max-lg:w-full"
        >
          <ChevronRight
            aria-hidden
            size={14}
            className={classes('shrink-0 text-faint transition-transform', isOpen && 'rotate-90')}
          />
          <span className="truncate font-mono font-medium">{eventType}</span>
        </button>
        <span className="relative z-10 justify-self-start">
          {recordId === eventId ? <span className="text-faint">—</span> : <ShortLink id={recordId} />}
        </span>
        <Attempts attempts={attempts} />
        <Signature attempts={attempts} />
        <Outcome delivery={delivery} />
      </div>
      <div id={id}>{isOpen ? <Content id={delivery.id} /> : null}</div>
    </li>
  );
}

const statusesShownMax = 5;

/** The response status of each attempt, in the order of the attempts. */
function Attempts({ attempts }: { readonly attempts: readonly AttemptOutcome[] }) {
  if (attempts.length === 0) return <span className="text-faint">No attempt yet</span>;
  const shown = attempts.slice(0, statusesShownMax).toReversed();
  const hidden = attempts.length - shown.length;
  return (
    <span className="flex flex-wrap items-center gap-1">
      <span className="sr-only">Responses: </span>
      {hidden > 0 ? <span className="text-xs text-muted">+{hidden}</span> : null}
      {shown.map(({ number, responseStatus, error }) => (
        <span key={number} title={`Attempt ${number}${error === null ? '' : `: ${error}`}`}>
          <HttpStatus status={responseStatus} />
        </span>
      ))}
    </span>
  );
}

/** Of the newest attempt that the inbox has responded to. */
function Signature({ attempts }: { readonly attempts: readonly AttemptOutcome[] }) {
  const verified = attempts.find(({ signatureVerified }) => signatureVerified !== null)?.signatureVerified;
  if (verified === undefined || verified === null)
    return (
      <span className="text-faint" title="The inbox has not responded, so there is no result.">
        —
      </span>
    );
  return (
    <span className={classes('inline-flex items-center gap-1', verified ? 'text-good' : 'text-bad')}>
      {verified ? <ShieldCheck aria-hidden size={14} /> : <ShieldAlert aria-hidden size={14} />}
      {verified ? 'Verified' : 'Not valid'}
    </span>
  );
}

function Outcome({ delivery }: { readonly delivery: DeliveryWithAttempts }) {
  const { status, held, nextAttemptAt } = delivery;
  return (
    <span className="inline-flex flex-wrap items-center gap-x-2">
      <DeliveryStatus delivery={delivery} />
      {status === 'pending' && !held && nextAttemptAt !== null ? (
        <NextAttempt at={Date.parse(nextAttemptAt)} isFirst={delivery.attemptCount === 0} />
      ) : null}
    </span>
  );
}

/** Counts down on the application clock. */
function NextAttempt({ at, isFirst }: { readonly at: number; readonly isFirst: boolean }) {
  const now = useNow('application', 1_000);
  const isFrozen = useContext(ClockContext)?.clock.status === 'frozen';
  const seconds = Math.ceil((at - now) / 1_000);
  if (isFirst || seconds <= 0) return <span className="text-muted">Sending…</span>;
  return (
    <span
      className="text-muted tabular-nums"
      title={
        isFrozen
          ? 'The application clock is frozen: advance it to send the next attempt.'
          : 'On the application clock: advance it to send the next attempt now.'
      }
    >
      {seconds < 60 ? `Retry in ${seconds} s` : `Retry ${formatRelative(at, now)}`}
      {isFrozen ? ', clock frozen' : ''}
    </span>
  );
}

function Content({ id }: { readonly id: string }) {
  const { data, problem, refresh } = useRead<DeliveryDetail>(`app/developer_api_webhook_deliveries/${id}`);
  if (data === undefined)
    return (
      <div className="px-5 pb-4">
        {problem ? (
          <ProblemBanner problem={problem} onRetry={refresh} />
        ) : (
          <Skeleton className="h-72 w-full" />
        )}
      </div>
    );
  return (
    <div className="flex flex-col gap-3 border-t bg-ground px-5 py-4">
      <div className="grid gap-4 xl:grid-cols-2">
        <JsonView value={data.requestBody} title="Request body, as signed and sent" />
        <div className="h-fit overflow-hidden rounded-md border border-t-0 bg-surface">
          <AttemptList attempts={data.attempts.toReversed()} />
        </div>
      </div>
      <div className="flex flex-wrap gap-2">
        <Anchor to={`deliveries/${id}`} className={buttonClass('plain', 'small')}>
          Open delivery
        </Anchor>
        <ReplayButton delivery={data} size="small" />
      </div>
    </div>
  );
}
