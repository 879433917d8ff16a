import { KeyRound, Plus, Rocket } from 'lucide-react';
import { RunnerPanel } from '../../code/runner-panel.tsx';
import { useAllowed } from '../../frame/session.tsx';
import { Anchor } from '../../parts/anchor.tsx';
import { buttonClass } from '../../parts/button.tsx';
import { createPayment } from '../start/requests.ts';

/** The overview of an organization without records: the shortest way to the first one. */
export function FirstPayment() {
  const mayWrite = useAllowed('developer');
  return (
    <section className="mx-auto max-w-2xl rounded-lg border bg-surface px-5 py-6 sm:px-8">
      <h2 className="text-lg font-semibold">Create your first payment</h2>
      <p className="mt-1 text-muted">
        {mayWrite ? 'Run this here, or in a terminal' : 'Run this in a terminal'} with an API key in{' '}
        <code className="font-mono text-sm">SANDBANK_API_KEY</code>. The payment is authorized and captured
        automatically, and its statistics and events appear here.
      </p>
      <div className="mt-4">
        <RunnerPanel request={createPayment} title="Create a payment" />
      </div>
      <div className="mt-5 flex flex-wrap gap-2">
        <Anchor to="start" className={buttonClass('primary')}>
          <Rocket aria-hidden size={16} />
          Open the quick start
        </Anchor>
        {mayWrite ? (
          <>
            <Anchor to="keys" search={{ create: '1' }} className={buttonClass()}>
              <KeyRound aria-hidden size={15} />
              Create API key
            </Anchor>
            <Anchor to="payments" search={{ create: '1' }} className={buttonClass()}>
              <Plus aria-hidden size={16} />
              Create payment
            </Anchor>
          </>
        ) : null}
      </div>
    </section>
  );
}
