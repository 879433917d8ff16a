/** The report of one or more runs: one HTML page without scripts and without references to other files. */
import { readFileSync } from 'node:fs';
import { escapeHtml, figure, label, minuteTicks, round } from './plot.ts';
import { plotsOf } from './plots.ts';
import type { Disturbance, Field, Run } from './run.ts';
import { type Verdict, verdictsOf } from './verdicts.ts';

const resultNames = { passed: 'Passed', failed: 'Failed', short: 'Not judged' };

const kindNames: Readonly<Record<Disturbance, string>> = {
  kill: 'kill -9',
  freeze: 'SIGSTOP',
  cut: 'connections cut',
  restart: 'database restart',
  jump: 'clock jump',
  exit: 'unplanned exit',
};

export function reportOf(runs: readonly Run[]): string {
  const css = readFileSync(new URL('report.css', import.meta.url), 'utf8').replace(/\s*\n\s*/g, '\n');
  const [first] = runs;
  if (!first) throw new Error('A report needs at least one run.');
  const verdicts = runs.map((run) => ({ run, verdicts: verdictsOf(run) }));
  const day = first.startedAt.slice(0, 10);
  const title = `Soak report, ${day}`;
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title}</title>
<style>
${css}</style>
</head>
<body>
<main>
<h1>${title}</h1>
<p>${escapeHtml(conclusionOf(verdicts))}</p>
<nav aria-label="Runs"><ul>${verdicts.map(({ run, verdicts: all }, i) => `<li><a href="#run-${i + 1}">${escapeHtml(run.database)}</a> <span class="soft">${label(run.minutes)} minutes, ${countText(all)}</span>`).join('')}</ul></nav>
${verdicts.map(({ run, verdicts: all }, i) => section(run, all, `run-${i + 1}`)).join('\n')}
</main>
</body>
</html>
`;
}

function conclusionOf(runs: readonly { readonly run: Run; readonly verdicts: readonly Verdict[] }[]): string {
  const all = runs.flatMap(({ verdicts }) => verdicts);
  const failed = all.filter(({ result }) => result === 'failed').length;
  const short = all.filter(({ result }) => result === 'short').length;
  const what =
    'Mixed traffic, while processes are killed and stopped, connections are cut, PostgreSQL crashes and clocks jump.';
  if (failed > 0) return `${what} ${failed} of ${all.length} checks failed.`;
  if (short > 0)
    return `${what} ${all.length - short} of ${all.length} checks passed; the others need a longer run.`;
  return `${what} All ${all.length} checks passed.`;
}

function countText(verdicts: readonly Verdict[]): string {
  const passed = verdicts.filter(({ result }) => result === 'passed').length;
  const failed = verdicts.filter(({ result }) => result === 'failed').length;
  return `${passed} of ${verdicts.length} checks passed${failed > 0 ? `, ${failed} failed` : ''}`;
}

function section(run: Run, verdicts: readonly Verdict[], id: string): string {
  const facts: readonly Field[] = [
    {
      name: 'Run',
      value: `${run.startedAt.slice(0, 16).replace('T', ' ')} UTC, ${label(run.minutes)} minutes, seed ${run.seed}, a sample every ${label(run.sampleSeconds)} s, warm-up ${label(run.warmUpSeconds / 60)} minutes`,
    },
    { name: 'Sandbank', value: `${run.version}, commit ${run.commit}` },
    ...run.machine,
    ...run.parameters,
    ...run.totals,
  ];
  return `<section aria-labelledby="${id}">
<h2 id="${id}">${escapeHtml(run.database)}</h2>
<ul class="verdicts">${verdicts.map(verdictItem).join('\n')}</ul>
<dl>${facts.map(({ name, value }) => `<dt>${escapeHtml(name)}</dt><dd>${escapeHtml(value)}</dd>`).join('\n')}</dl>
<p class="soft">In the plots, dashed vertical lines are kills and database restarts, and the shaded part is the warm-up, in which growth is not judged.</p>
<div class="plots">
${timeline(run, id)}
${plotsOf(run, id).map(figure).join('\n')}
</div>
</section>`;
}

function verdictItem({ name, result, text, details }: Verdict): string {
  const list =
    details.length === 0
      ? ''
      : `<ul>${details.map((detail) => `<li>${formatted(detail)}</li>`).join('')}</ul>`;
  return `<li><span class="result ${result}">${resultNames[result]}</span><div><h3>${formatted(name)}</h3><p>${escapeHtml(text)}</p>${list}</div></li>`;
}

/** Names of commands are between backticks. */
function formatted(text: string): string {
  return escapeHtml(text).replace(/`([^`]+)`/g, '<code>$1</code>');
}

const rowHeight = 22;
const timelineArea = { left: 120, right: 1_200, top: 8 };

/** Each disturbance as a point in the row of its kind. */
function timeline({ marks, minutes }: Run, id: string): string {
  const kinds = (Object.keys(kindNames) as Disturbance[]).filter((kind) =>
    marks.some((mark) => mark.kind === kind),
  );
  const bottom = timelineArea.top + kinds.length * rowHeight;
  const x = (minute: number) =>
    round(timelineArea.left + (minute / minutes) * (timelineArea.right - timelineArea.left));
  const rows = kinds.map((kind, row) => {
    const y = timelineArea.top + (row + 0.5) * rowHeight;
    const points = marks
      .filter((mark) => mark.kind === kind)
      .map(
        ({ at, text }) =>
          `<path class="event ${kind}" d="M${x(at / 60)} ${y - 5}l5 5l-5 5l-5-5z"><title>minute ${label(at / 60)}: ${escapeHtml(text.slice(0, 100))}</title></path>`,
      );
    return `<path class="grid" d="M${timelineArea.left} ${y}H${timelineArea.right}"/><text class="y" x="${timelineArea.left - 10}" y="${y + 4}">${kindNames[kind]}</text>${points.join('')}`;
  });
  const ticks = minuteTicks(minutes).map(
    (tick) => `<text class="x" x="${x(tick)}" y="${bottom + 16}">${label(tick)}</text>`,
  );
  const counts = kinds.map(
    (kind) => `${marks.filter((mark) => mark.kind === kind).length} × ${kindNames[kind]}`,
  );
  const ids = `${id}-marks-title ${id}-marks-desc`;
  return `<figure class="wide" id="${id}-marks">
<figcaption><h3>Disturbances</h3><p>${escapeHtml(counts.join(', '))}, over ${label(minutes)} minutes of traffic.</p></figcaption>
<svg viewBox="0 0 1208 ${bottom + 24}" role="img" aria-labelledby="${ids}"><title id="${id}-marks-title">Disturbances</title><desc id="${id}-marks-desc">${escapeHtml(counts.join(', '))}</desc>${rows.join('')}${ticks.join('')}</svg>
<details><summary>List</summary><div class="scroll" tabindex="0" role="region" aria-label="List of disturbances"><table class="events"><thead><tr><th scope="col">Minute<th scope="col">What<tbody>
${marks.map(({ at, text }) => `<tr><td>${label(at / 60)}<td>${escapeHtml(text)}`).join('\n')}</table></div></details>
</figure>`;
}
