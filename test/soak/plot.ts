/** Plots as inline SVG, without scripts, styles or references: classes and titles only. */
export interface Series {
  readonly name: string;
  /** One value per sample; null breaks the line. */
  readonly values: readonly (number | null)[];
}

export interface Plot {
  readonly id: string;
  readonly title: string;
  readonly text: string;
  readonly unit: string;
  /** Minutes, one for each value. */
  readonly minutes: readonly number[];
  readonly minutesMax: number;
  readonly series: readonly Series[];
  /** `log` for values over several orders of magnitude; zero is shown at the bottom. */
  readonly scale?: 'linear' | 'log';
  /** The minutes of disturbances that end connections. */
  readonly lines: readonly number[];
  /** Until this minute nothing is judged. */
  readonly warmUp: number;
}

const size = { width: 440, height: 236 };
const area = { left: 56, right: 432, top: 12, bottom: 200 };

export function escapeHtml(text: string): string {
  return text.replace(
    /[&<>"]/g,
    (one) => ({ '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' })[one] ?? one,
  );
}

export function figure(plot: Plot): string {
  const shown = plot.series.filter(({ values }) => values.some((value) => value !== null));
  const legend = shown
    .map(
      ({ name }, i) =>
        `<li><svg class="key" viewBox="0 0 24 8" aria-hidden="true"><path class="s${i}" d="M0 4H24"/></svg>${escapeHtml(name)}</li>`,
    )
    .join('');
  return `<figure id="${plot.id}">
<figcaption><h3>${escapeHtml(plot.title)}</h3><p>${escapeHtml(plot.text)}</p></figcaption>
${svg(plot, shown)}
<ul class="legend">${legend}</ul>
${figures(plot, shown)}
</figure>`;
}

function svg(plot: Plot, series: readonly Series[]): string {
  const values = series.flatMap(({ values: all }) => all.filter((value) => value !== null));
  const y = plot.scale === 'log' ? logScale(values) : linearScale(values);
  const x = (minute: number) => area.left + (minute / plot.minutesMax) * (area.right - area.left);
  const ids = [`${plot.id}-title`, `${plot.id}-desc`];
  const parts = [
    `<rect class="warm" x="${area.left}" y="${area.top}" width="${round(x(plot.warmUp) - area.left)}" height="${area.bottom - area.top}"/>`,
    ...y.ticks.map(
      (tick) =>
        `<path class="grid" d="M${area.left} ${round(y.at(tick))}H${area.right}"/><text class="y" x="${area.left - 6}" y="${round(y.at(tick) + 4)}">${label(tick)}</text>`,
    ),
    ...minuteTicks(plot.minutesMax).map(
      (tick) => `<text class="x" x="${round(x(tick))}" y="${area.bottom + 16}">${label(tick)}</text>`,
    ),
    ...(plot.lines.length > 0
      ? [
          `<path class="mark" d="${plot.lines.map((minute) => `M${round(x(minute))} ${area.top}V${area.bottom}`).join('')}"/>`,
        ]
      : []),
    ...series.map(({ values: all }, i) => `<path class="s${i}" d="${pathOf(all, plot.minutes, x, y.at)}"/>`),
    `<path class="axis" d="M${area.left} ${area.bottom}H${area.right}"/>`,
    `<text class="x" x="${(area.left + area.right) / 2}" y="${size.height - 4}">minutes of traffic</text>`,
    `<text class="unit" x="${area.left + 4}" y="${area.top + 11}">${escapeHtml(plot.unit)}</text>`,
  ];
  return `<svg viewBox="0 0 ${size.width} ${size.height}" role="img" aria-labelledby="${ids.join(' ')}"><title id="${ids[0]}">${escapeHtml(plot.title)}</title><desc id="${ids[1]}">${escapeHtml(description(plot, series))}</desc>${parts.join('')}</svg>`;
}

function description({ unit, minutesMax }: Plot, series: readonly Series[]): string {
  const lines = series.map(({ name, values }) => {
    const numbers = values.filter((value) => value !== null);
    const [first = 0] = numbers;
    return `${name} begins at ${label(first)}, ends at ${label(numbers.at(-1) ?? 0)} and is ${label(Math.max(...numbers))} at most`;
  });
  return `Over ${label(minutesMax)} minutes, in ${unit}: ${lines.join('; ')}.`;
}

/** The numbers of the plot. Closing tags that HTML does not need are left out: there are thousands of cells. */
function figures({ title, minutes }: Plot, series: readonly Series[]): string {
  const head = series.map(({ name }) => `<th scope="col">${escapeHtml(name)}`).join('');
  const rows = minutes
    .map(
      (minute, i) =>
        `<tr><td>${label(minute)}${series.map(({ values }) => `<td>${cell(values[i])}`).join('')}`,
    )
    .join('\n');
  return `<details><summary>Numbers</summary><div class="scroll" tabindex="0" role="region" aria-label="Numbers: ${escapeHtml(title)}"><table><thead><tr><th scope="col">Minute${head}<tbody>
${rows}</table></div></details>`;
}

function cell(value: number | null | undefined): string {
  return value === null || value === undefined ? '–' : label(value);
}

/** Three significant digits; thousands are separated. */
export function label(value: number): string {
  if (value === 0) return '0';
  const size = Math.abs(value);
  if (size >= 1_000) return Math.round(value).toLocaleString('en');
  return String(Number(value.toPrecision(size >= 100 ? 4 : 3)));
}

interface Scale {
  readonly ticks: readonly number[];
  readonly at: (value: number) => number;
}

function linearScale(values: readonly number[]): Scale {
  const max = Math.max(...values, 1e-9);
  const step = niceStep(max / 4);
  const top = Math.ceil(max / step) * step;
  const ticks = Array.from({ length: Math.round(top / step) + 1 }, (_, i) => i * step);
  return { ticks, at: (value) => area.bottom - (value / top) * (area.bottom - area.top - 16) };
}

function logScale(values: readonly number[]): Scale {
  const last = Math.max(1, Math.ceil(Math.log10(Math.max(...values, 1))));
  const first = Math.floor(Math.log10(Math.max(0.1, Math.min(...values, 10 ** last))));
  if (first >= 0 && first < last) {
    const ticks = Array.from({ length: last - first + 1 }, (_, i) => 10 ** (first + i));
    const height = area.bottom - area.top - 16;
    return { ticks, at: (value) => area.bottom - ((Math.log10(value) - first) / (last - first)) * height };
  }
  const ticks = [0, ...Array.from({ length: last + 1 }, (_, i) => 10 ** i)];
  // One step for values from 0 to 1, then one for each power of ten.
  const share = (value: number) => (value <= 1 ? Math.max(0, value) : 1 + Math.log10(value)) / (last + 1);
  return { ticks, at: (value) => area.bottom - share(value) * (area.bottom - area.top - 16) };
}

export function minuteTicks(max: number): readonly number[] {
  const step = niceStep(max / 6);
  return Array.from({ length: Math.floor(max / step) + 1 }, (_, i) => Number((i * step).toPrecision(6)));
}

function niceStep(least: number): number {
  const power = 10 ** Math.floor(Math.log10(least));
  return power * ([1, 2, 5, 10].find((factor) => factor * power >= least * 0.999) ?? 10);
}

function pathOf(
  values: readonly (number | null)[],
  minutes: readonly number[],
  x: (minute: number) => number,
  y: (value: number) => number,
): string {
  let isDrawing = false;
  const parts: string[] = [];
  for (const [i, value] of values.entries()) {
    if (value === null) {
      isDrawing = false;
      continue;
    }
    const isAlone = !isDrawing && (values[i + 1] ?? null) === null;
    const point = `${round(x(minutes[i] ?? 0))} ${round(y(value))}`;
    parts.push(`${isDrawing ? 'L' : 'M'}${point}${isAlone ? 'h1.5' : ''}`);
    isDrawing = true;
  }
  return parts.join('');
}

export function round(value: number): number {
  return Math.round(value * 10) / 10;
}
