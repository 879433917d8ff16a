import { Clock3, Route, Zap } from 'lucide-react';
import type { ReactNode } from 'react';
import { CopyButton } from '../../parts/copy-button.tsx';
import { DocsLink } from '../docs-link.tsx';

interface Feature {
  readonly icon: ReactNode;
  readonly title: string;
  readonly description: string;
  readonly example: string;
  readonly docs: string;
  readonly link: string;
}

const features: readonly Feature[] = [
  {
    icon: <Zap aria-hidden size={18} />,
    title: 'Failures on demand',
    description: 'Choose what the provider does: decline, dispute, delay a refund, report a wrong amount.',
    example: '{"amount": 1250, "currency": "EUR", "scenario": "decline:insufficient_funds"}',
    docs: '/docs/scenarios',
    link: 'All scenarios',
  },
  {
    icon: <Clock3 aria-hidden size={18} />,
    title: 'Time travel',
    description:
      'Advance the clock: authorizations expire, payouts arrive and retries run, in order, before the call returns.',
    example: 'POST developer_api_clock/advance {"seconds": 604800}',
    docs: '/docs',
    link: 'API reference',
  },
  {
    icon: <Route aria-hidden size={18} />,
    title: 'Every state on demand',
    description:
      'Run an action by name, or the next step of the scenario; an illegal action is rejected with the allowed ones.',
    example: 'POST developer_api_payments/{id}/advance {"action": "capture"}',
    docs: '/docs/states',
    link: 'All states and transitions',
  },
];

/** Features that live payment providers do not have. */
export function FeatureCards() {
  return (
    <section aria-labelledby="wonders">
      <h2 id="wonders" className="mb-3 text-lg font-semibold">
        Sandbox features
      </h2>
      <div className="grid gap-4 lg:grid-cols-3">
        {features.map(({ icon, title, description, example, docs, link }) => (
          <div key={title} className="flex min-w-0 flex-col gap-3 rounded-lg border bg-surface p-4">
            <h3 className="flex items-center gap-2 font-semibold">
              <span className="text-accent">{icon}</span>
              {title}
            </h3>
            <p className="text-muted">{description}</p>
            <div className="mt-auto flex flex-col gap-2">
              <div className="flex items-start gap-1 rounded-md border bg-sunken py-2 pr-1.5 pl-3">
                <code className="min-w-0 flex-1 py-0.5 font-mono text-xs break-words">{example}</code>
                <CopyButton text={example} what={`example of ${title}`} />
              </div>
              <DocsLink to={docs} className="self-start">
                {link}
              </DocsLink>
            </div>
          </div>
        ))}
      </div>
    </section>
  );
}
