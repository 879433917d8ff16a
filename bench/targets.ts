/** Performance targets that are not a ratio of two benchmarks, as rows of the table of targets. */
import type { DeliveriesMeasured } from './deliveries.ts';
import type { NodesMeasured } from './nodes.ts';
import { MEGABYTES_MAX, NPM_SECONDS_MAX, PROCESS_SECONDS_MAX, type StartMeasured } from './start.ts';

export interface Target {
  readonly what: string;
  readonly result: string;
  readonly target: string;
  readonly isMet: boolean;
}

const ALONE_MS_MAX = 50;
const RATIO_MAX = 2;

export function deliveryTargets(measured: readonly DeliveriesMeasured[]): readonly Target[] {
  return measured.flatMap(({ database, alone, ratio }) => [
    {
      what: `event delivery on an idle server on ${database}, p50; every event arrived`,
      result: `${alone.p50Ms.toFixed(1)} ms`,
      target: `under ${ALONE_MS_MAX} ms`,
      isMet: alone.p50Ms < ALONE_MS_MAX,
    },
    {
      what: `delivery p99 on ${database} with bad endpoints, relative to without`,
      result: `${ratio.toFixed(2)} times`,
      target: `at most ${RATIO_MAX}`,
      isMet: ratio <= RATIO_MAX,
    },
  ]);
}

/** Depends on free cores: GETs are limited by the node; creates, on two cores, by the database. */
export function nodeTargets(measured: readonly NodesMeasured[]): readonly Target[] {
  return measured.map(({ what, one, two, ratio }) => ({
    what: `two nodes on one PostgreSQL relative to one, ${what}`,
    result: `${Math.round(two).toLocaleString('en-US')} vs. ${Math.round(one).toLocaleString('en-US')}, ${ratio.toFixed(2)}`,
    target: 'more than 1 with free cores',
    isMet: ratio > 1,
  }));
}

export function startTargets(measured: StartMeasured | undefined): readonly Target[] {
  if (measured === undefined) return [];
  const { processSeconds, npmSeconds, megabytes } = measured;
  const seconds = (what: string, figure: number, max: number) => ({
    what,
    result: `${figure.toFixed(2)} s`,
    target: `under ${max} s`,
    isMet: figure < max,
  });
  return [
    seconds('start with data to the first response, process', processSeconds, PROCESS_SECONDS_MAX),
    seconds('start with data to the first response, `npm start`', npmSeconds, NPM_SECONDS_MAX),
    {
      what: 'memory of an idle embedded server',
      result: `${Math.round(megabytes)} MB`,
      target: `under ${MEGABYTES_MAX} MB`,
      isMet: megabytes < MEGABYTES_MAX,
    },
  ];
}
