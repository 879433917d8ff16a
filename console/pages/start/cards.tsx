import { Clock3, Route, Zap } from 'lucide-react';
import type { ReactNode } from 'react';
import { CopyButton } from '../../parts/copy-button.tsx';
import { DocsLink } from '../docs-link.tsx';

interface Wonder {
  readonly icon: ReactNode;
  readonly title: string;
  readonly words: string;
  readonly example: string;
  readonly docs: string;
  readonly link: string;
}

const wonders: readonly Wonder[] = [
  {
    icon: <Zap aria-hidden size={18} />,
    title: 'Failures on demand',
    words: 'Name what the provider shall do: decline, dispute, a late refund, a wrong report.',
    example: '{"amount": 1250, "currency": "EUR", "scenario": "decline:insufficient_funds"}',
    docs: '/docs/scenarios',
    link: 'All scenarios',
  },
  {
    icon: <Clock3 aria-hidden size={18} />,
    title: 'Time travel',
    words:
      'Send the clock ahead: holds lapse, pay-outs come, retries happen, in order, before the call answers.',
    example: 'POST developer_api_clock/advance {"seconds": 604800}',
    docs: '/docs',
    link: 'The whole API',
  },
  {
    icon: <Route aria-hidden size={18} />,
    title: 'Every state within reach',
    words:
      'Move a record by name, or play its next step without one; what is not possible is refused with what is.',
    example: 'POST developer_api_payments/{id}/advance {"action": "capture"}',
    docs: '/docs/states',
    link: 'All states and moves',
  },
];

/** What a live provider cannot give you. */
export function Wonders() {
  return (
    <section aria-labelledby="wonders">
      <h2 id="wonders" className="mb-3 text-lg font-semibold">
        What only a sandbox can do
      </h2>
      <div className="grid gap-4 lg:grid-cols-3">
        {wonders.map(({ icon, title, words, example, docs, link }) => (
          <div key={title} className="flex min-w-0 flex-col gap-3 rounded-lg border bg-surface p-4">
            <h3 className="flex items-center gap-2 font-semibold">
              <span className="text-accent">{icon}</span>
              {title}
            </h3>
            <p className="text-muted">{words}</p>
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
