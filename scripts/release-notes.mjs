// The pure functions of the release script: the next version and the changelog section.

/** @param {string} current @param {string} step `major`, `minor`, `patch` or a version @returns {string} */
export function nextVersion(current, step) {
  const [major, minor, patch] = partsOf(current);
  if (step === 'major') return `${major + 1}.0.0`;
  if (step === 'minor') return `${major}.${minor + 1}.0`;
  if (step === 'patch') return `${major}.${minor}.${patch + 1}`;
  const wanted = partsOf(step);
  const isLater = [major, minor, patch].reduceRight(
    (later, part, at) => (wanted[at] === part ? later : (wanted[at] ?? 0) > part),
    false,
  );
  if (!isLater) throw new Error(`${step} does not come after ${current}.`);
  return step;
}

/** @param {string} version @returns {[number, number, number]} */
function partsOf(version) {
  const found = /^(\d+)\.(\d+)\.(\d+)$/.exec(version);
  if (found === null)
    throw new Error(`"${version}" is not a version. Use major, minor, patch or a version such as 1.2.3.`);
  return [Number(found[1]), Number(found[2]), Number(found[3])];
}

/**
 * Gives the unreleased section its version and date, and adds a new, empty section above it.
 * @param {string} text @param {string} version @param {string} date @returns {{ text: string, entries: number }}
 */
export function releasedChangelog(text, version, date) {
  const heading = '## [Unreleased]';
  const start = text.indexOf(`${heading}\n`);
  if (start === -1) throw new Error(`CHANGELOG.md has no section "${heading}".`);
  const rest = text.slice(start + heading.length);
  const ends = rest.search(/^## /m);
  const section = ends === -1 ? rest : rest.slice(0, ends);
  const entries = section.match(/^- /gm)?.length ?? 0;
  if (entries === 0)
    throw new Error('CHANGELOG.md has nothing to release: its section [Unreleased] is empty.');
  const released = `${text.slice(0, start)}${heading}\n\n## [${version}] - ${date}${rest}`;
  return { text: released, entries };
}
