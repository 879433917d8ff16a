import { RotateCw, ShieldAlert, ShieldCheck } from 'lucide-react';
import { useRead } from '../../client/queries.ts';
import type { AuditVerification } from '../../generated/shapes.ts';
import { Button } from '../../parts/button.tsx';
import { CopyButton } from '../../parts/copy-button.tsx';
import { ProblemBanner } from '../../parts/problem.tsx';
import { Skeleton } from '../../parts/skeleton.tsx';
import { classes, pluralize } from '../../parts/text.ts';
import { Time } from '../../parts/time.tsx';

/** `isWhole` is false if the trail is so long that only its newest part was verified. */
type Verification = AuditVerification & { readonly isWhole?: boolean };

/** Shows whether the audit trail matches its seals. */
export function VerificationCard() {
  const { data, problem, isLoading, isRefreshing, refresh } = useRead<Verification>('org/audit/verification');
  if (isLoading) {
    return (
      <div role="status" className="mb-5">
        <span className="sr-only">Verifying the chain</span>
        <Skeleton className="h-77 w-full sm:h-32.5" />
      </div>
    );
  }
  if (data === undefined) {
    return problem ? (
      <div className="mb-5">
        <ProblemBanner problem={problem} onRetry={refresh} />
      </div>
    ) : null;
  }
  const isIntact = data.status === 'intact';
  const Icon = isIntact ? ShieldCheck : ShieldAlert;
  return (
    <section
      aria-label="Audit trail verification"
      className={classes(
        'mb-5 rounded-lg border bg-surface px-5 py-4',
        isIntact ? 'border-l-4 border-l-good' : 'border-l-4 border-l-bad',
      )}
    >
      <div className="flex flex-wrap items-start justify-between gap-3">
        <div className="flex min-w-0 flex-1 basis-72 items-start gap-3">
          <Icon
            aria-hidden
            size={22}
            className={classes('mt-0.5 shrink-0', isIntact ? 'text-good' : 'text-bad')}
          />
          <div className="min-w-0">
            <h2 className={classes('text-lg font-semibold', isIntact ? 'text-good' : 'text-bad')}>
              {isIntact ? 'Audit log verified' : 'Audit log changed'}
            </h2>
            <p className="text-muted">
              {isIntact
                ? 'Every sealed row is unchanged, and no seal is missing.'
                : 'Some rows do not match their seal. See the problems below.'}
              {data.isWhole === false
                ? ' Only the newest part was verified; run sandbank verify to check everything.'
                : ''}
            </p>
          </div>
        </div>
        <Button onClick={refresh} isBusy={isRefreshing} icon={<RotateCw aria-hidden size={15} />}>
          Verify again
        </Button>
      </div>
      <Counts verification={data} />
      <Problems problems={data.problems} />
    </section>
  );
}

function Counts({ verification }: { readonly verification: Verification }) {
  const { seals, sealedRows, unsealedRows, head, checkedAt } = verification;
  return (
    <dl className="mt-3 flex flex-wrap gap-x-8 gap-y-2 text-sm sm:pl-[2.125rem]">
      <Count name="Seals" value={seals.toLocaleString('en')} />
      <Count name="Sealed rows" value={sealedRows.toLocaleString('en')} />
      <Count name="Not sealed yet" value={unsealedRows.toLocaleString('en')} />
      <Count name="Checked" value={<Time at={checkedAt} kind="wall" show="relative" />} />
      <Count
        name="Chain head"
        value={
          head === null ? (
            <span className="text-faint">None yet</span>
          ) : (
            <span className="inline-flex max-w-full items-center gap-0.5">
              <code className="truncate font-mono text-xs" title={head}>
                {head.slice(0, 16)}…{head.slice(-8)}
              </code>
              <CopyButton text={head} what="head hash" />
            </span>
          )
        }
      />
    </dl>
  );
}

function Count({ name, value }: { readonly name: string; readonly value: React.ReactNode }) {
  return (
    <div className="min-w-0">
      <dt className="text-faint">{name}</dt>
      <dd className="flex min-h-6 items-center font-medium tabular-nums">{value}</dd>
    </div>
  );
}

interface Problem {
  readonly seal: number | null;
  readonly message: string;
}

function Problems({ problems }: { readonly problems: readonly Problem[] }) {
  if (problems.length === 0) return null;
  return (
    <div className="mt-3 rounded-md bg-bad-soft px-4 py-3 text-bad">
      <h3 className="font-medium">{pluralize(problems.length, 'problem')}</h3>
      <ul className="mt-1 flex list-disc flex-col gap-1 pl-5 text-sm">
        {problems.map(({ seal, message }) => (
          <li key={`${seal} ${message}`} className="break-words">
            {message}
          </li>
        ))}
      </ul>
    </div>
  );
}
