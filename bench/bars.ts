/** Bars of the design that are no ratio of two contenders, as rows of the one table of bars. */
import type { DeliveriesMeasured } from './deliveries.ts';
import type { NodesMeasured } from './nodes.ts';
import { MEGABYTES_MAX, NPM_SECONDS_MAX, PROCESS_SECONDS_MAX, type StartMeasured } from './start.ts';

export interface Bar {
  readonly what: string;
  readonly figure: string;
  readonly bar: string;
  readonly isMet: boolean;
}

const ALONE_MS_MAX = 50;
const RATIO_MAX = 2;

export function deliveryBars(measured: readonly DeliveriesMeasured[]): readonly Bar[] {
  return measured.flatMap(({ database, alone, ratio }) => [
    {
      what: `delivery of an event on an idle server on ${database}, p50; every event came`,
      figure: `${alone.p50Ms.toFixed(1)} ms`,
      bar: `under ${ALONE_MS_MAX} ms`,
      isMet: alone.p50Ms < ALONE_MS_MAX,
    },
    {
      what: `p99 of deliveries on ${database} beside bad endpoints, against without them`,
      figure: `${ratio.toFixed(2)} times`,
      bar: `at most ${RATIO_MAX}`,
      isMet: ratio <= RATIO_MAX,
    },
  ]);
}

/** Where cores allow: the GETs are bound by the node, the creates on two cores by the database beside it. */
export function nodeBars(measured: readonly NodesMeasured[]): readonly Bar[] {
  return measured.map(({ what, one, two, ratio }) => ({
    what: `two nodes on one PostgreSQL against one, ${what}`,
    figure: `${Math.round(two).toLocaleString('en-US')} against ${Math.round(one).toLocaleString('en-US')}, ${ratio.toFixed(2)}`,
    bar: 'more than 1 where cores allow',
    isMet: ratio > 1,
  }));
}

export function startBars(measured: StartMeasured | undefined): readonly Bar[] {
  if (measured === undefined) return [];
  const { processSeconds, npmSeconds, megabytes } = measured;
  const seconds = (what: string, figure: number, max: number) => ({
    what,
    figure: `${figure.toFixed(2)} s`,
    bar: `under ${max} s`,
    isMet: figure < max,
  });
  return [
    seconds('start with data to the first answer, the process', processSeconds, PROCESS_SECONDS_MAX),
    seconds('start with data to the first answer, through `npm start`', npmSeconds, NPM_SECONDS_MAX),
    {
      what: 'memory of an idle embedded server',
      figure: `${Math.round(megabytes)} MB`,
      bar: `under ${MEGABYTES_MAX} MB`,
      isMet: megabytes < MEGABYTES_MAX,
    },
  ];
}
