import { Bug, Clock3 } from 'lucide-react';
import { type ReactNode, useContext, useEffect, useState } from 'react';
import { ClockContext } from '../client/now.ts';
import { usePageCommands } from '../client/page-commands.ts';
import { type List, useRead } from '../client/queries.ts';
import type { FaultPlan } from '../generated/shapes.ts';
import { Anchor } from '../parts/anchor.tsx';
import { pluralize } from '../parts/text.ts';
import { describeOffset } from './clock-offset.ts';
import { ResetClock } from './reset-clock.tsx';
import { useAllowed } from './session.tsx';

const plansShownMax = 10;

const activePlans = { status: 'active', limit: plansShownMax };
// A page is shown after this time even if the clock cannot be read.
const waitMsMax = 5_000;

/** Whether it is known which strips there are. A strip that appears later would move the page below it. */
export function useStripsKnown(): boolean {
  const clock = useContext(ClockContext);
  const { data, problem } = useRead<List<FaultPlan>>('app/developer_api_fault_plans', activePlans);
  const [isLate, setLate] = useState(false);
  useEffect(() => {
    const timer = setTimeout(() => setLate(true), waitMsMax);
    return () => clearTimeout(timer);
  }, []);
  return isLate || (clock !== null && (data !== undefined || problem !== null));
}

/** Shown on every page while the clock is not at real time, or while faults are active. */
export function Strips() {
  return (
    <>
      <ClockStrip />
      <FaultStrip />
    </>
  );
}

function ClockStrip() {
  const reading = useContext(ClockContext);
  const mayWrite = useAllowed('developer');
  const [isResetting, setResetting] = useState(false);
  const text = reading === null ? 'Real time.' : describeOffset(reading.clock);
  const isMoved = text !== 'Real time.';
  const openReset = () => setResetting(true);
  usePageCommands(isMoved && mayWrite ? [{ label: 'Clock: reset to real time…', run: openReset }] : []);
  if (!isMoved) return null;
  return (
    <Strip label="Application clock" icon={<Clock3 aria-hidden size={14} />} tone="bg-note-soft text-note">
      <span>
        <span className="max-sm:sr-only">Application </span>
        <span className="max-sm:inline-block max-sm:first-letter:uppercase">
          clock: {text.charAt(0).toLowerCase() + text.slice(1)}
        </span>
      </span>
      {mayWrite ? (
        <button type="button" className="font-medium underline underline-offset-2" onClick={openReset}>
          Reset…
        </button>
      ) : null}
      {isResetting ? <ResetClock onClose={() => setResetting(false)} /> : null}
    </Strip>
  );
}

function FaultStrip() {
  const { data } = useRead<List<FaultPlan>>('app/developer_api_fault_plans', activePlans);
  const count = data?.data.length ?? 0;
  if (count === 0) return null;
  const shown = data?.hasMore ? `More than ${plansShownMax} faults` : pluralize(count, 'fault');
  return (
    <Strip label="Active faults" icon={<Bug aria-hidden size={14} />} tone="bg-warn-soft text-warn">
      <span>{shown} active: some requests or webhooks of this application fail on purpose.</span>
      <Anchor to="faults" className="font-medium underline underline-offset-2">
        View
      </Anchor>
    </Strip>
  );
}

interface StripProps {
  /** For screen readers: every part of the page is in a landmark. */
  readonly label: string;
  readonly icon: ReactNode;
  readonly tone: string;
  readonly children: ReactNode;
}

function Strip({ label, icon, tone, children }: StripProps) {
  return (
    <section aria-label={label} className={`flex items-center gap-x-3 px-4 py-1.5 text-sm sm:px-8 ${tone}`}>
      {icon}
      {children}
    </section>
  );
}
