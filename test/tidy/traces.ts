import { lineAt, type Rule, type Source, type Violation } from './source.ts';

// Built from parts, so that the rule does not match this file.
const machineFolders = ['work', 'tmp', 'root'].join('|');
const homes = ['home', 'Users'].join('|');
const machinePath = new RegExp(`(?<![\\w./<~}-])/(?:(?:${machineFolders})(?![\\w-])|(?:${homes})/\\w)`, 'g');
const registryHost =
  /\b(?:registry|npm|artifactory|verdaccio|nexus)(?:\.[a-z0-9-]+)+\.(?:com|org|net|io|dev|cloud|corp|lan|local|internal)\b/gi;

/** The repository contains no traces of a developer machine: no local paths, no package registry. */
export const traces: Rule = (tree) =>
  tree.flatMap((file) => [
    ...find(file, machinePath, 'a path of one machine'),
    ...find(file, registryHost, 'the host of a package registry'),
    ...(file.path.endsWith('package-lock.json')
      ? find(file, /^\s*"resolved"\s*:/gm, 'a "resolved" address')
      : []),
  ]);

function find(file: Source, pattern: RegExp, what: string): Violation[] {
  return [...file.text.matchAll(pattern)].map((match) => ({
    file: file.path,
    line: lineAt(file.text, match.index),
    rule: 'traces',
    message: `${what} does not belong in the repository: ${match[0].trim()}`,
  }));
}
