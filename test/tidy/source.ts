import { strip } from './strip.ts';

/** A file of the repository. The path is from the root, with forward slashes. */
export interface Source {
  readonly path: string;
  readonly text: string;
  /** The text with comments and the content of literals blanked out; positions are unchanged. */
  readonly code: string;
}

export interface Violation {
  readonly file: string;
  readonly line: number;
  readonly rule: string;
  readonly message: string;
}

/** A rule checks a whole tree, so that its test can run it on a small synthetic one. */
export type Rule = (tree: readonly Source[]) => Violation[];

export function source(path: string, text: string): Source {
  return { path, text, code: isCode(path) ? strip(text) : text };
}

export function isCode(path: string): boolean {
  return /\.[cm]?[jt]sx?$/.test(path);
}

export function isTest(path: string): boolean {
  return /\.test\.tsx?$/.test(path);
}

export function lineAt(text: string, index: number): number {
  return text.slice(0, index).split('\n').length;
}

/** All matches of a pattern in the code of a file, as violations. */
export function matches(file: Source, pattern: RegExp, rule: string, message: string): Violation[] {
  return [...file.code.matchAll(pattern)].map((match) => ({
    file: file.path,
    line: lineAt(file.code, match.index),
    rule,
    message,
  }));
}

export function print({ file, line, rule, message }: Violation): string {
  return `${file}:${line} ${rule}: ${message}`;
}
