/** The instant at which a UTC day starts, or its last millisecond; an empty day stays empty. */
export function instantOfDay(day: string, edge: 'start' | 'end'): string {
  return day === '' ? '' : `${day}T${edge === 'end' ? '23:59:59.999' : '00:00:00.000'}Z`;
}
