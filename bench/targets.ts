/** Performance targets that do not depend on the rounds, as rows of the table of targets. */
import { CLOCK_SECONDS_MAX, type ClockMeasured } from './clock.ts';
import type { DeliveriesMeasured } from './deliveries.ts';
import type { NodesMeasured } from './nodes.ts';
import type { LogShare } from './request-log.ts';
import { MEGABYTES_MAX, NPM_SECONDS_MAX, PROCESS_SECONDS_MAX, type StartMeasured } from './start.ts';

export interface Target {
  readonly what: string;
  readonly result: string;
  readonly ratio?: string;
  /** Undefined where the figure is informational only. */
  readonly target?: string;
  readonly isMet?: boolean;
  readonly rounds?: string;
}

const ALONE_MS_MAX = 10;
const BAD_ENDPOINTS_RATIO_MAX = 2;
const BURST_PER_SECOND_MIN = 2_000;
const BURST_P99_MS_MAX = 150;
const LOG_SHARE_MAX = 0.05;

const under = (what: string, figure: number, max: number, unit: string, digits: number): Target => ({
  what,
  result: `${figure.toFixed(digits)} ${unit}`,
  target: `under ${max} ${unit}`,
  isMet: figure < max,
});

export function clockTargets(measured: readonly ClockMeasured[]): readonly Target[] {
  return measured.map(({ database, label, timers, seconds }) =>
    under(
      `clock on ${database}: ${timers.toLocaleString('en-US')} ${label}`,
      seconds,
      CLOCK_SECONDS_MAX[database],
      's',
      2,
    ),
  );
}

export function deliveryTargets(measured: readonly DeliveriesMeasured[]): readonly Target[] {
  return measured.flatMap(({ database, alone, good, ratio }) => [
    under(
      `event delivery on an idle server on ${database}, p50; every event arrived`,
      alone.p50Ms,
      ALONE_MS_MAX,
      'ms',
      1,
    ),
    ...(database === 'PostgreSQL' ? burstTargets(good) : []),
    {
      what: `delivery p99 on ${database} with bad endpoints, relative to without`,
      result: `${ratio.toFixed(2)} times`,
      target: `at most ${BAD_ENDPOINTS_RATIO_MAX}`,
      isMet: ratio <= BAD_ENDPOINTS_RATIO_MAX,
    },
  ]);
}

function burstTargets({ deliveriesPerSecond, p99Ms }: DeliveriesMeasured['good']): readonly Target[] {
  const what = 'deliveries of 1,000 payments captured at once on PostgreSQL';
  return [
    {
      what,
      result: `${Math.round(deliveriesPerSecond).toLocaleString('en-US')} per second`,
      target: `at least ${BURST_PER_SECOND_MIN.toLocaleString('en-US')}`,
      isMet: deliveriesPerSecond >= BURST_PER_SECOND_MIN,
    },
    under(`${what}, p99`, p99Ms, BURST_P99_MS_MAX, 'ms', 1),
  ];
}

/** Depends on free cores: GETs are limited by the node; creates, on two cores, by the database. */
export function nodeTargets(measured: readonly NodesMeasured[]): readonly Target[] {
  return measured.map(({ what, one, two, ratio }) => ({
    what: `two nodes on one PostgreSQL relative to one, ${what}`,
    result: `${Math.round(two).toLocaleString('en-US')} vs. ${Math.round(one).toLocaleString('en-US')}`,
    ratio: ratio.toFixed(2),
    target: 'more than 1 with free cores',
    isMet: ratio > 1,
  }));
}

export function logTargets(measured: readonly LogShare[]): readonly Target[] {
  return measured.map(({ what, share }) => ({
    what: `request log, share of a ${what}`,
    result: `${(share * 100).toFixed(1)} %`,
    target: `at most ${LOG_SHARE_MAX * 100} %`,
    isMet: share <= LOG_SHARE_MAX,
  }));
}

export function startTargets(measured: StartMeasured | undefined): readonly Target[] {
  if (measured === undefined) return [];
  const { processSeconds, npmSeconds, megabytes } = measured;
  return [
    under('start with data to the first response, process', processSeconds, PROCESS_SECONDS_MAX, 's', 2),
    under('start with data to the first response, `npm start`', npmSeconds, NPM_SECONDS_MAX, 's', 2),
    under('memory of an idle embedded server', megabytes, MEGABYTES_MAX, 'MB', 0),
  ];
}
