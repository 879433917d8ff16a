/** RESULTS.md has the results of two kinds of runs. Each replaces only its own part. */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';

/** Replaces one section, from its heading to the next of the same level. A new section is appended. */
export function replaceSection(file: string, heading: string, section: string): void {
  const { before, after } = split(file, heading);
  writeFileSync(
    file,
    `${[before, section, after]
      .map((part) => part.trim())
      .filter(Boolean)
      .join('\n\n')}\n`,
  );
}

/** Replaces everything except that section, which is last. */
export function replaceOthers(file: string, heading: string, others: string): void {
  const { section } = split(file, heading);
  writeFileSync(
    file,
    `${[others, section]
      .map((part) => part.trim())
      .filter(Boolean)
      .join('\n\n')}\n`,
  );
}

function split(file: string, heading: string): { before: string; section: string; after: string } {
  const text = existsSync(file) ? readFileSync(file, 'utf8') : '';
  const begin = text.indexOf(`${heading}\n`);
  if (begin < 0) return { before: text, section: '', after: '' };
  const next = text.indexOf('\n## ', begin + heading.length);
  const end = next < 0 ? text.length : next + 1;
  return { before: text.slice(0, begin), section: text.slice(begin, end), after: text.slice(end) };
}
