import { ShieldCheck } from 'lucide-react';
import { useState } from 'react';
import { useCapabilities } from '../../client/currencies.ts';
import { useWrite } from '../../client/queries.ts';
import type { Capabilities, Examination, Severity } from '../../client/shapes.ts';
import { Button } from '../../parts/button.tsx';
import { Card } from '../../parts/card.tsx';
import { Checkbox, Field, Select } from '../../parts/field.tsx';
import { ProblemBanner } from '../../parts/problem.tsx';
import { Progress } from '../../parts/progress.tsx';
import { Skeleton } from '../../parts/skeleton.tsx';
import { count, sentence } from '../../parts/words.ts';
import { ExaminationReport } from './report.tsx';

type Case = Capabilities['examinationCases'][number];

/** Without a good event the others say nothing, so it is always tried. */
const always = 'valid_signature';
const severities: readonly Severity[] = ['critical', 'major', 'minor'];

/** Attacks the receiver of an endpoint, and shows how it stood. */
export function ExamineReceiver({ id }: { readonly id: string }) {
  const capabilities = useCapabilities();
  const cases = capabilities?.examinationCases ?? [];
  const [left, setLeft] = useState<ReadonlySet<string>>(new Set());
  const [eventType, setEventType] = useState('');
  const examine = useWrite<Examination>(`app/developer_api_webhooks/${id}/examine`);
  const chosen = cases.filter(({ name }) => name === always || !left.has(name)).map(({ name }) => name);
  const start = () => {
    examine.reset();
    const some = chosen.length < cases.length ? { cases: chosen } : {};
    void examine.write({ ...some, ...(eventType === '' ? {} : { eventType }) });
  };
  return (
    <Card
      title="Examine receiver"
      description="Sends good, forged and odd requests to this URL and grades the answers. No delivery is left behind."
      actions={
        <Button
          icon={<ShieldCheck aria-hidden size={15} />}
          isBusy={examine.isBusy}
          disabled={cases.length === 0}
          onClick={start}
        >
          {examine.answer ? 'Examine again' : 'Examine receiver'}
        </Button>
      }
    >
      <div className="flex flex-col gap-4">
        {cases.length === 0 ? (
          <Skeleton className="h-5 w-24" />
        ) : (
          <details>
            <summary className="text-sm font-medium marker:text-muted">
              {chosen.length === cases.length
                ? `All ${count(cases.length, 'case')}`
                : `${chosen.length} of ${count(cases.length, 'case')}`}
            </summary>
            <div className="mt-3 flex flex-col gap-4">
              <Choosing cases={cases} left={left} onChange={setLeft} />
              <Field label="Event type" hint="Events of this type are sent, with its example as data.">
                <Select
                  className="max-w-80"
                  value={eventType}
                  empty="One that the webhook wants"
                  options={capabilities?.eventTypes ?? []}
                  onChange={(event) => setEventType(event.currentTarget.value)}
                />
              </Field>
            </div>
          </details>
        )}
        <div aria-live="polite" className="flex flex-col gap-3 empty:hidden">
          {examine.isBusy ? (
            <>
              <p className="text-sm text-muted">Examining, a few seconds as a rule and 30 at most…</p>
              <Progress label="Examining the receiver" value={null} />
            </>
          ) : null}
          {examine.problem ? <ProblemBanner problem={examine.problem} /> : null}
        </div>
        <p role="status" className="sr-only">
          {examine.answer ? `The examination has ended with the grade ${examine.answer.grade}.` : ''}
        </p>
        {examine.answer ? <ExaminationReport report={examine.answer} /> : null}
      </div>
    </Card>
  );
}

interface ChoosingProps {
  readonly cases: readonly Case[];
  /** Those that are not tried. */
  readonly left: ReadonlySet<string>;
  readonly onChange: (left: ReadonlySet<string>) => void;
}

function Choosing({ cases, left, onChange }: ChoosingProps) {
  const toggle = (name: string, isOn: boolean) => {
    const next = new Set(left);
    if (isOn) next.delete(name);
    else next.add(name);
    onChange(next);
  };
  return (
    <>
      <div className="flex gap-2">
        <Button size="small" onClick={() => onChange(new Set())}>
          Choose all
        </Button>
        <Button size="small" onClick={() => onChange(new Set(cases.map(({ name }) => name)))}>
          Choose none
        </Button>
      </div>
      {severities.map((severity) => (
        <fieldset key={severity} className="min-w-0">
          <legend className="mb-1.5 text-sm font-medium">{sentence(severity)}</legend>
          <div className="grid gap-x-6 gap-y-2 sm:grid-cols-2">
            {cases
              .filter((one) => one.severity === severity)
              .map(({ name, title }) => (
                <Checkbox
                  key={name}
                  label={title}
                  {...(name === always ? { hint: 'Always tried, and first.' } : {})}
                  isOn={name === always || !left.has(name)}
                  disabled={name === always}
                  onChange={(isOn) => toggle(name, isOn)}
                />
              ))}
          </div>
        </fieldset>
      ))}
    </>
  );
}
