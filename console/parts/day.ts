import { zone } from '../client/zone.ts';

/** The instant at which a day starts, or its last millisecond, in the shown time zone; an empty day stays empty. */
export function instantOfDay(day: string, edge: 'start' | 'end'): string {
  if (day === '') return '';
  const time = edge === 'end' ? '23:59:59.999' : '00:00:00.000';
  // Without a suffix, the time is in the zone of the browser.
  return new Date(`${day}T${time}${zone() === 'utc' ? 'Z' : ''}`).toISOString();
}

/** The day of an instant in the shown time zone, as a date input has it. */
export function dayOfInstant(instant: string | undefined): string {
  if (instant === undefined || instant === '') return '';
  const date = new Date(instant);
  if (zone() === 'utc') return date.toISOString().slice(0, 10);
  const [year, month, day] = [date.getFullYear(), date.getMonth() + 1, date.getDate()];
  return `${String(year).padStart(4, '0')}-${String(month).padStart(2, '0')}-${String(day).padStart(2, '0')}`;
}
