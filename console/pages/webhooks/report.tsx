import { CircleAlert } from 'lucide-react';
import type { Examination, ExaminedCase } from '../../generated/shapes.ts';
import { CodeBlock } from '../../parts/code-block.tsx';
import { IdText } from '../../parts/copy-button.tsx';
import { Prose } from '../../parts/prose.tsx';
import { StatusBadge, type Tone } from '../../parts/status-badge.tsx';
import { classes, pluralize, sentenceCase } from '../../parts/text.ts';

const tones: Readonly<Record<Examination['grade'], string>> = {
  A: 'bg-good-soft text-good',
  B: 'bg-good-soft text-good',
  C: 'bg-warn-soft text-warn',
  D: 'bg-bad-soft text-bad',
  F: 'bg-bad-soft text-bad',
};

const gradeDescriptions: Readonly<Record<Examination['grade'], string>> = {
  A: 'No findings.',
  B: 'Minor findings only.',
  C: 'One or two major cases failed.',
  D: 'Three or more major cases failed.',
  F: 'A critical case failed.',
};

/** A graded report: findings first, passed cases collapsed. */
export function ExaminationReport({ report }: { readonly report: Examination }) {
  const { grade, score, cases, message } = report;
  const findings = cases.filter(({ outcome }) => outcome !== 'passed');
  const passed = cases.filter(({ outcome }) => outcome === 'passed');
  const tally = (['failed', 'warned', 'passed'] as const)
    .map((outcome) => [outcome, cases.filter((one) => one.outcome === outcome).length] as const)
    .filter(([, number]) => number > 0)
    .map(([outcome, number]) => `${number} ${outcome}`)
    .join(', ');
  return (
    <section aria-label="Report" className="flex flex-col gap-4 border-t pt-4">
      <div className="flex items-center gap-4">
        <p
          className={classes(
            'flex size-14 shrink-0 items-center justify-center rounded-lg text-3xl font-semibold',
            tones[grade],
          )}
        >
          <span className="sr-only">Grade </span>
          {grade}
        </p>
        <div className="min-w-0">
          <p className="font-medium">{message === null ? gradeDescriptions[grade] : 'It ended early.'}</p>
          <p className="text-sm text-muted">
            {score} of 100 points. {tally === '' ? 'No cases ran' : sentenceCase(tally)}, with{' '}
            <code className="font-mono">{report.eventType}</code>, in {(report.durationMs / 1_000).toFixed(1)}{' '}
            s.
          </p>
          <IdText id={report.id} what="examination id" />
        </div>
      </div>
      {message === null ? null : (
        <div className="flex gap-2.5 rounded-md bg-warn-soft px-3.5 py-2.5 text-warn">
          <CircleAlert aria-hidden size={17} className="mt-0.5 shrink-0" />
          <p className="min-w-0 break-words">{message}</p>
        </div>
      )}
      {findings.length > 0 ? (
        <ul className="divide-y rounded-md border">
          {findings.map((one) => (
            <li key={one.name} className="px-4 py-3.5">
              <Finding one={one} />
            </li>
          ))}
        </ul>
      ) : null}
      {passed.length > 0 ? <Passed cases={passed} isOpen={findings.length === 0} /> : null}
    </section>
  );
}

const severityTones: Readonly<Record<ExaminedCase['severity'], Tone>> = {
  critical: 'bad',
  major: 'warn',
  minor: 'quiet',
};

function Finding({ one }: { readonly one: ExaminedCase }) {
  const errors = [...new Set(one.attempts.flatMap(({ error }) => error ?? []))];
  const otherErrors = errors.filter((error) => !one.advice?.includes(error));
  return (
    <div className="flex flex-col gap-2">
      <div className="flex flex-wrap items-center gap-x-2 gap-y-1">
        <StatusBadge status={one.outcome} />
        <StatusBadge status={one.severity} tone={severityTones[one.severity]} />
        <h3 className="font-medium">{one.title}</h3>
      </div>
      <p className="text-sm text-muted">
        <Prose text={one.why} />
      </p>
      <dl className="flex flex-wrap gap-x-6 gap-y-1 text-sm">
        {[
          ['Expected', one.expected],
          ['Received', one.received],
        ].map(([name, value]) => (
          <div key={name} className="flex gap-1.5">
            <dt className="text-muted">{name}</dt>
            <dd className="font-mono">{value}</dd>
          </div>
        ))}
      </dl>
      {otherErrors.map((error) => (
        <p key={error} className="text-sm break-words">
          {error}
        </p>
      ))}
      {one.advice === null ? null : (
        <p>
          <Prose text={one.advice} />
        </p>
      )}
      {one.example === null ? null : <CodeBlock code={one.example} title="For example" />}
    </div>
  );
}

function Passed({ cases, isOpen }: { readonly cases: readonly ExaminedCase[]; readonly isOpen: boolean }) {
  return (
    <details open={isOpen}>
      <summary className="text-sm font-medium marker:text-muted">
        {pluralize(cases.length, 'case')} passed
      </summary>
      <ul className="mt-2 divide-y rounded-md border">
        {cases.map(({ name, title, received }) => (
          <li key={name} className="flex items-baseline justify-between gap-4 px-4 py-2 text-sm">
            <span>{title}</span>
            <span className="shrink-0 font-mono text-muted">{received}</span>
          </li>
        ))}
      </ul>
    </details>
  );
}
