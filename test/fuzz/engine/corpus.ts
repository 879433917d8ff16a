import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

/** All targets together stay below 200 KB. */
const bytesMax = 16_000;

/** An input is a JSON string in a line. Inputs that failed once are in a file of regressions, and stay. */
const fileOf = (target: string, kind: 'inputs' | 'regressions') =>
  fileURLToPath(
    new URL(`../corpus/${target}${kind === 'inputs' ? '' : '.regressions'}.jsonl`, import.meta.url),
  );

function read(file: string): readonly string[] {
  if (!existsSync(file)) return [];
  const lines = readFileSync(file, 'utf8').split('\n');
  return lines.filter((line) => line !== '').map((line) => JSON.parse(line) as string);
}

const textOf = (inputs: readonly string[]) => inputs.map((input) => `${JSON.stringify(input)}\n`).join('');

export const readInputs = (target: string) => read(fileOf(target, 'inputs'));
export const readRegressions = (target: string) => read(fileOf(target, 'regressions'));

/** Stores the first inputs that fit, in a stable order. */
export function writeInputs(target: string, inputs: readonly string[]): void {
  let bytes = 0;
  const fitting = inputs.filter((input) => {
    const length = Buffer.byteLength(textOf([input]));
    if (bytes + length > bytesMax) return false;
    bytes += length;
    return true;
  });
  writeFileSync(fileOf(target, 'inputs'), textOf(fitting.toSorted()));
}

/** Returns the file. */
export function addRegression(target: string, input: string): string {
  const file = fileOf(target, 'regressions');
  writeFileSync(file, textOf([...new Set([...read(file), input])]));
  return file;
}
