import { Clock3, Route, Zap } from 'lucide-react';
import { type ReactNode, useState } from 'react';
import { type List, useRead } from '../../client/queries.ts';
import { Runner } from '../../code/runner.tsx';
import type { Payment } from '../../generated/shapes.ts';
import { Skeleton } from '../../parts/skeleton.tsx';
import { DocsLink } from '../docs-link.tsx';
import { advanceClock, createDeclinedPayment, settlePayment } from './requests.ts';

/** Features that live payment providers do not have, each with a request that shows it. */
export function FeatureCards() {
  return (
    <section aria-labelledby="features" className="max-w-5xl">
      <h2 id="features" className="mb-3 text-lg font-semibold">
        Sandbox features
      </h2>
      <div className="flex flex-col gap-4">
        <Feature
          icon={<Zap aria-hidden size={18} />}
          title="Failures on demand"
          description="Choose what the provider does: decline, dispute, delay a refund, report a wrong amount."
          docs="/docs/scenarios"
          link="All scenarios"
        >
          <Runner title="Create a payment that is declined" request={createDeclinedPayment} />
        </Feature>
        <Feature
          icon={<Clock3 aria-hidden size={18} />}
          title="Time travel"
          description="Advance the clock: authorizations expire, payouts arrive and retries run, in order, before the call returns."
          docs="/docs/clock"
          link="The application clock"
        >
          <Runner title="Advance the clock by a week" request={advanceClock} />
        </Feature>
        <Feature
          icon={<Route aria-hidden size={18} />}
          title="Every state on demand"
          description="Go straight to a state, or run one action by its name. An illegal action is rejected with the allowed ones."
          docs="/docs/states"
          link="All states and transitions"
        >
          <SettlePayment />
        </Feature>
      </div>
    </section>
  );
}

interface FeatureProps {
  readonly icon: ReactNode;
  readonly title: string;
  readonly description: string;
  readonly docs: string;
  readonly link: string;
  readonly children: ReactNode;
}

function Feature({ icon, title, description, docs, link, children }: FeatureProps) {
  return (
    <div className="grid gap-x-8 gap-y-3 rounded-lg border bg-surface p-4 lg:grid-cols-[18rem_minmax(0,1fr)]">
      <div className="flex flex-col items-start gap-2">
        <h3 className="flex items-center gap-2 font-semibold">
          <span className="text-accent">{icon}</span>
          {title}
        </h3>
        <p className="text-muted">{description}</p>
        <DocsLink to={docs}>{link}</DocsLink>
      </div>
      {children}
    </div>
  );
}

/** With the first pending payment that the page has seen: after a run it is settled, and its response stays. */
function SettlePayment() {
  const { data, isLoading } = useRead<List<Payment>>('app/developer_api_payments', {
    status: 'pending',
    limit: 1,
  });
  const [id, setId] = useState<string>();
  const pending = data?.data[0]?.id;
  if (id === undefined && pending !== undefined) setId(pending);
  if (isLoading) return <Skeleton className="h-40 w-full" />;
  if (id === undefined)
    return (
      <p className="text-muted">Create a payment above: its request appears here while it is pending.</p>
    );
  return <Runner title="Advance a payment until it is settled" request={settlePayment(id)} />;
}
