import type { Payment } from '../../generated/shapes.ts';
import { Card } from '../../parts/card.tsx';
import { Time } from '../../parts/time.tsx';

/** Payment attempts, if there are several or the first one failed. */
export function Attempts({ payment: { attempts } }: { readonly payment: Payment }) {
  if (attempts.length < 2 && !attempts.some(({ failure }) => failure !== null)) return null;
  return (
    <Card title="Attempts" isCompact>
      <ol className="flex flex-col">
        {attempts.map(({ number, scenario, failure, failedAt }) => (
          <li key={number} className="border-b py-2 first:pt-0 last:border-b-0 last:pb-0">
            <p className="flex justify-between gap-3">
              <span>
                {number}. <span className="font-mono text-[0.75rem]">{scenario}</span>
              </span>
              {failedAt === null ? null : (
                <span className="text-sm text-muted">
                  <Time at={failedAt} />
                </span>
              )}
            </p>
            {failure === null ? null : <p className="text-sm text-bad">{failure.message}</p>}
          </li>
        ))}
      </ol>
    </Card>
  );
}
