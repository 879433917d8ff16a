import { zone } from '../client/zone.ts';

/** The instant at which a day starts, or its last millisecond, in the shown time zone; an empty day stays empty. */
export function instantOfDay(day: string, edge: 'start' | 'end'): string {
  return day === '' ? '' : instantOf(`${day}T${edge === 'end' ? '23:59:59.999' : '00:00:00.000'}`);
}

/** The day of an instant in the shown time zone, as a date input has it. */
export function dayOfInstant(instant: string | undefined): string {
  return instant === undefined || instant === '' ? '' : inputOfInstant(Date.parse(instant)).slice(0, 10);
}

/** The value of a `datetime-local` input, which is in the shown time zone, as an instant; an empty value stays empty. */
export function instantOfInput(text: string): string {
  return text === '' ? '' : instantOf(text);
}

/** An instant as the value of a `datetime-local` input, to the minute. */
export function inputOfInstant(instantMs: number): string {
  const offsetMs = zone() === 'utc' ? 0 : new Date(instantMs).getTimezoneOffset() * 60_000;
  return new Date(instantMs - offsetMs).toISOString().slice(0, 16);
}

/** Without a suffix, the time is in the zone of the browser. A year with five digits is not a date: like no input. */
function instantOf(localTime: string): string {
  const instantMs = Date.parse(`${localTime}${zone() === 'utc' ? 'Z' : ''}`);
  return Number.isNaN(instantMs) ? '' : new Date(instantMs).toISOString();
}
