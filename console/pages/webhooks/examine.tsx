import { ShieldCheck } from 'lucide-react';
import { useState } from 'react';
import { useCapabilities } from '../../client/capabilities.ts';
import { useFilters } from '../../client/filters.ts';
import { useRead, useWrite } from '../../client/queries.ts';
import { useAllowed } from '../../frame/session.tsx';
import type { Capabilities, Examination, ExaminationHistory, Severity } from '../../generated/shapes.ts';
import { Button } from '../../parts/button.tsx';
import { Card } from '../../parts/card.tsx';
import { useCodeToggle } from '../../parts/code-toggle.tsx';
import { Checkbox, Field, Select } from '../../parts/field.tsx';
import { ProblemBanner } from '../../parts/problem.tsx';
import { Progress } from '../../parts/progress.tsx';
import { Skeleton } from '../../parts/skeleton.tsx';
import { pluralize, sentenceCase } from '../../parts/text.ts';
import { ExaminationList } from './examination-list.tsx';
import { ExaminationReport } from './report.tsx';

type Case = Capabilities['examinationCases'][number];

/** Without a valid event the other cases prove nothing, so it is always included. */
const requiredCase = 'valid_signature';
const severities: readonly Severity[] = ['critical', 'major', 'minor'];

/** Sends valid, forged and malformed requests to an endpoint's receiver, and shows the report. */
export function ExamineReceiver({ id }: { readonly id: string }) {
  const isAllowed = useAllowed('developer');
  const [{ examination }, setFilters] = useFilters('examination');
  const capabilities = useCapabilities();
  const cases = capabilities?.examinationCases ?? [];
  const [skipped, setSkipped] = useState<ReadonlySet<string>>(new Set());
  const [eventType, setEventType] = useState('');
  const examine = useWrite<Examination>(`app/developer_api_webhooks/${id}/examine`, {
    // The link of the page leads to this report, and a reload shows it again.
    onDone: (report) => setFilters({ examination: report.id }),
  });
  const history = useRead<ExaminationHistory>(
    `app/webhooks/${id}/examinations`,
    { examinationId: examination },
    { keepPreviousData: true },
  );
  const report = examine.isBusy
    ? undefined
    : examine.response !== undefined && examine.response.id === examination
      ? examine.response
      : history.data?.report;
  const selected = cases
    .filter(({ name }) => name === requiredCase || !skipped.has(name))
    .map(({ name }) => name);
  const body = {
    ...(selected.length < cases.length ? { cases: selected } : {}),
    ...(eventType === '' ? {} : { eventType }),
  };
  const code = useCodeToggle(examine.request(body), 'Examine receiver');
  const start = () => {
    examine.reset();
    void examine.write(body);
  };
  return (
    <Card
      title="Examine receiver"
      description="Sends valid, forged and malformed requests to this URL and grades the responses. No deliveries are stored."
      actions={
        isAllowed ? (
          <>
            {code.button}
            <Button
              icon={<ShieldCheck aria-hidden size={15} />}
              isBusy={examine.isBusy}
              disabled={cases.length === 0}
              onClick={start}
            >
              {report ? 'Examine again' : 'Examine receiver'}
            </Button>
          </>
        ) : undefined
      }
    >
      <div className="flex flex-col gap-4">
        {code.panel}
        {!isAllowed ? null : cases.length === 0 ? (
          <Skeleton className="h-5 w-24" />
        ) : (
          <details>
            <summary className="text-sm font-medium marker:text-muted">
              {selected.length === cases.length
                ? `All ${pluralize(cases.length, 'case')}`
                : `${selected.length} of ${pluralize(cases.length, 'case')}`}
            </summary>
            <div className="mt-3 flex flex-col gap-4">
              <CaseSelection cases={cases} skipped={skipped} onChange={setSkipped} />
              <Field
                label="Event type"
                param="type"
                hint="The type of the events to send, with its example as data."
              >
                <Select
                  className="max-w-80"
                  value={eventType}
                  empty="One that the webhook subscribes to"
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
              <p className="text-sm text-muted">Examining. This usually takes a few seconds, at most 30…</p>
              <Progress label="Examining the receiver" value={null} />
            </>
          ) : null}
          {examine.problem ? <ProblemBanner problem={examine.problem} /> : null}
          {history.problem && !report ? <ProblemBanner problem={history.problem} /> : null}
        </div>
        <p role="status" className="sr-only">
          {examine.response ? `The examination ended with grade ${examine.response.grade}.` : ''}
        </p>
        {report ? <ExaminationReport report={report} /> : null}
        <ExaminationList
          examinations={history.data?.examinations ?? []}
          shownId={report?.id}
          onOpen={(next) => setFilters({ examination: next })}
        />
      </div>
    </Card>
  );
}

interface CaseSelectionProps {
  readonly cases: readonly Case[];
  /** The names of the deselected cases. */
  readonly skipped: ReadonlySet<string>;
  readonly onChange: (left: ReadonlySet<string>) => void;
}

function CaseSelection({ cases, skipped, onChange }: CaseSelectionProps) {
  const toggle = (name: string, isOn: boolean) => {
    const next = new Set(skipped);
    if (isOn) next.delete(name);
    else next.add(name);
    onChange(next);
  };
  return (
    <>
      <div className="flex gap-2">
        <Button size="small" onClick={() => onChange(new Set())}>
          Select all
        </Button>
        <Button size="small" onClick={() => onChange(new Set(cases.map(({ name }) => name)))}>
          Select none
        </Button>
      </div>
      {severities.map((severity) => (
        <fieldset key={severity} className="min-w-0">
          <legend className="mb-1.5 text-sm font-medium">{sentenceCase(severity)}</legend>
          <div className="grid gap-x-6 gap-y-2 sm:grid-cols-2">
            {cases
              .filter((one) => one.severity === severity)
              .map(({ name, title }) => (
                <Checkbox
                  key={name}
                  label={title}
                  {...(name === requiredCase ? { hint: 'Always included, and first.' } : {})}
                  isOn={name === requiredCase || !skipped.has(name)}
                  disabled={name === requiredCase}
                  onChange={(isOn) => toggle(name, isOn)}
                />
              ))}
          </div>
        </fieldset>
      ))}
    </>
  );
}
