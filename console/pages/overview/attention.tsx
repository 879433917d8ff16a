import { Bug, CircleCheck, Clock3, type LucideIcon, Scale, ShieldAlert, Webhook } from 'lucide-react';
import { type ReactNode, useContext } from 'react';
import { amountText } from '../../client/amount.ts';
import { ClockContext } from '../../client/now.ts';
import { type List, useRead, useWrite } from '../../client/queries.ts';
import type { ApiProblem } from '../../client/request.ts';
import { describeOffset } from '../../frame/clock-offset.ts';
import { useAllowed } from '../../frame/session.tsx';
import type { Attention, Clock, FaultPlan } from '../../generated/shapes.ts';
import { Anchor } from '../../parts/anchor.tsx';
import { Button, buttonClass } from '../../parts/button.tsx';
import { Card } from '../../parts/card.tsx';
import { ProblemBanner } from '../../parts/problem.tsx';
import { classes, pluralize } from '../../parts/text.ts';
import { Time } from '../../parts/time.tsx';
import { useToast } from '../../parts/toast.tsx';

interface Item {
  readonly key: string;
  readonly icon: LucideIcon;
  readonly tone: 'text-bad' | 'text-warn' | 'text-note';
  readonly title: ReactNode;
  readonly detail: ReactNode;
  /** The page that shows it. */
  readonly to: string;
  readonly search?: Readonly<Record<string, string>>;
  readonly action?: ReactNode;
}

export interface AttentionItems {
  /** Undefined while something of it is loading. */
  readonly items: readonly Item[] | undefined;
  readonly problem: ApiProblem | null;
}

const disputesShownMax = 3;
// The same query as that of the sidebar, which shows the number as a badge.
const plansShownMax = 10;

/** What a person should know of, the most urgent first. */
export function useAttention(): AttentionItems {
  const attention = useRead<Attention>('app/attention');
  const faults = useRead<List<FaultPlan>>('app/developer_api_fault_plans', {
    status: 'active',
    limit: plansShownMax,
  });
  const reading = useContext(ClockContext);
  const problem = attention.problem ?? faults.problem;
  if (attention.data === undefined || faults.data === undefined || reading === null)
    return { items: undefined, problem };
  const { webhooks } = attention.data;
  return {
    problem,
    items: [
      ...webhooks.filter(({ status }) => status === 'disabled').map(webhookItem),
      ...disputeItems(attention.data),
      ...webhooks.filter(({ status }) => status === 'enabled').map(webhookItem),
      ...mismatchItems(attention.data),
      ...faultItems(faults.data),
      ...clockItems(reading.clock),
    ],
  };
}

function webhookItem({ id, url, status, since, disabledReason }: Attention['webhooks'][number]): Item {
  const isDisabled = status === 'disabled';
  return {
    key: id,
    icon: Webhook,
    tone: 'text-bad',
    title: isDisabled ? (
      `Endpoint disabled: ${disabledReason === 'gone' ? 'it responded with 410' : 'too many failures'}`
    ) : (
      <>
        Endpoint failing since <Time at={since} />
      </>
    ),
    detail: <span className="font-mono text-xs">{url}</span>,
    to: `webhooks/${id}`,
    ...(isDisabled ? { action: <EnableWebhook id={id} /> } : {}),
  };
}

function EnableWebhook({ id }: { readonly id: string }) {
  const { toast } = useToast();
  const { write, isBusy } = useWrite(`app/developer_api_webhooks/${id}/enable`, {
    onDone: () => toast('Webhook enabled'),
    onFailed: ({ message }) => toast(message, { isBad: true }),
  });
  return useAllowed('developer') ? (
    <Button size="small" isBusy={isBusy} onClick={() => void write({})}>
      Enable
    </Button>
  ) : null;
}

function disputeItems({ disputes, disputeCount }: Attention): readonly Item[] {
  const shown = disputes.slice(0, disputesShownMax);
  const more = disputeCount - shown.length;
  return [
    ...shown.map(({ id, amount, currency, respondBy }) => ({
      key: id,
      icon: ShieldAlert,
      tone: 'text-warn' as const,
      title: (
        <>
          Dispute due <Time at={respondBy} show="relative" mayBeAhead />
        </>
      ),
      detail: amountText(amount, currency),
      to: `disputes/${id}`,
      action: <Respond id={id} />,
    })),
    ...(more > 0
      ? [
          {
            key: 'disputes',
            icon: ShieldAlert,
            tone: 'text-warn' as const,
            title: `${pluralize(more, 'more dispute')} to respond to`,
            detail: 'With a later deadline',
            to: 'disputes',
            search: { status: 'needs_response' },
          },
        ]
      : []),
  ];
}

function Respond({ id }: { readonly id: string }) {
  return useAllowed('developer') ? (
    <Anchor to={`disputes/${id}`} className={buttonClass('plain', 'small')}>
      Respond
    </Anchor>
  ) : null;
}

function mismatchItems({ mismatchCount }: Attention): readonly Item[] {
  if (mismatchCount === 0) return [];
  return [
    {
      key: 'mismatches',
      icon: Scale,
      tone: 'text-warn',
      title: pluralize(mismatchCount, 'settlement mismatch', 'settlement mismatches'),
      detail: 'The provider’s report differs from the ledger',
      to: 'reconciliation',
    },
  ];
}

function faultItems({ data, hasMore }: List<FaultPlan>): readonly Item[] {
  if (data.length === 0) return [];
  return [
    {
      key: 'faults',
      icon: Bug,
      tone: 'text-warn',
      title: `${hasMore ? `More than ${plansShownMax} faults` : pluralize(data.length, 'fault')} active`,
      detail: 'Some requests or webhooks fail on purpose',
      to: 'faults',
    },
  ];
}

function clockItems(clock: Clock): readonly Item[] {
  const offset = describeOffset(clock);
  if (offset === 'Real time.') return [];
  return [
    {
      key: 'clock',
      icon: Clock3,
      tone: 'text-note',
      title: clock.status === 'frozen' ? 'The clock is frozen' : 'The clock was moved',
      detail: offset.replace(/\.$/, ''),
      to: 'events',
      search: { resource: 'clock' },
      action: <ResetClock />,
    },
  ];
}

function ResetClock() {
  const { toast } = useToast();
  const { write, isBusy } = useWrite('app/developer_api_clock/reset', {
    onDone: () => toast('Clock reset to real time'),
    onFailed: ({ message }) => toast(message, { isBad: true }),
  });
  return useAllowed('developer') ? (
    <Button size="small" isBusy={isBusy} onClick={() => void write({})} aria-label="Reset the clock">
      Reset
    </Button>
  ) : null;
}

export interface AttentionCardProps extends AttentionItems {
  readonly className?: string;
}

export function AttentionCard({ items = [], problem, className }: AttentionCardProps) {
  return (
    <Card title="Needs attention" isFlush className={className ?? ''}>
      {problem ? (
        <div className="px-5 pb-3">
          <ProblemBanner problem={problem} />
        </div>
      ) : null}
      {items.length === 0 && !problem ? (
        <p className="flex items-center gap-2 border-t px-5 py-3 text-sm text-muted">
          <CircleCheck aria-hidden size={16} className="shrink-0 text-good" />
          Nothing needs attention.
        </p>
      ) : null}
      <ul aria-label="Needs attention" className="flex flex-col">
        {items.map(({ key, icon: Icon, tone, title, detail, to, search, action }) => (
          <li
            key={key}
            className="relative flex min-h-13 items-center gap-3 border-t px-5 py-2 hover:bg-hover"
          >
            <Icon aria-hidden size={16} className={classes('shrink-0', tone)} />
            <div className="min-w-0 flex-1 text-sm">
              <Anchor
                to={to}
                {...(search === undefined ? {} : { search })}
                className="font-medium after:absolute after:inset-0 focus-visible:outline-none focus-visible:after:outline-2 focus-visible:after:-outline-offset-2 focus-visible:after:outline-accent"
              >
                {title}
              </Anchor>
              <p className="truncate text-muted">{detail}</p>
            </div>
            {action === undefined ? null : <div className="relative z-10">{action}</div>}
          </li>
        ))}
      </ul>
    </Card>
  );
}
