import { describe, expect, test } from 'vitest';
import { importsOf, resolve } from './imports.ts';
import { source } from './source.ts';

function read(text: string) {
  return importsOf(source('src/a/b.ts', text)).map(({ kind, typeOnly, specifier }) => [
    kind,
    typeOnly,
    specifier,
  ]);
}

describe('importsOf', () => {
  test.each([
    [`import a from './x.ts'`, ['static', false, './x.ts']],
    [`import { a, type B } from "./x.ts"`, ['static', false, './x.ts']],
    [`import { type B } from './x.ts'`, ['static', false, './x.ts']],
    [`import type { B } from './x.ts'`, ['static', true, './x.ts']],
    [`import type from './x.ts'`, ['static', false, './x.ts']],
    [`import * as a from './x.ts'`, ['static', false, './x.ts']],
    [`import './x.ts'`, ['static', false, './x.ts']],
    [`import {\n  a,\n  b,\n} from './x.ts'`, ['static', false, './x.ts']],
    [`import a from './x.json' with { type: 'json' }`, ['static', false, './x.json']],
    [`export * from './x.ts'`, ['static', false, './x.ts']],
    [`export * as a from './x.ts'`, ['static', false, './x.ts']],
    [`export { a } from './x.ts'`, ['static', false, './x.ts']],
    [`export type { A } from './x.ts'`, ['static', true, './x.ts']],
    [`const a = await import('./x.ts')`, ['dynamic', false, './x.ts']],
    ['const a = await import(`./x.ts`)', ['dynamic', false, './x.ts']],
    [`let a: import('./x.ts').A`, ['dynamic', false, './x.ts']],
    [`import.meta.resolve('./x.ts')`, ['dynamic', false, './x.ts']],
    [`const a = await import(name)`, ['dynamic', false, undefined]],
    ['const a = await import(`./${name}.ts`)', ['dynamic', false, undefined]],
    [`const a = await import('./' + name)`, ['dynamic', false, undefined]],
    [`new Worker(new URL('./x.ts', import.meta.url))`, ['url', false, './x.ts']],
  ])('reads %s', (text, expected) => {
    expect(read(text)).toEqual([expected]);
  });

  test.each([
    `// import a from './x.ts'`,
    `const a = "import a from './x.ts'"`,
    `new URL('https://example.com/x.ts')`,
    `new URL('./x.ts', base)`,
    `export const from = 'x'`,
    `export const a = 1;\nconst from = 'x'`,
    `console.log(import.meta.url)`,
    `a.import('./x.ts')`,
  ])('finds nothing in %s', (text) => {
    expect(read(text)).toEqual([]);
  });

  test('reads both paths of a conditional worker URL', () => {
    const text = `new Worker(new URL(isSource ? './x.ts' : "./x.js", import.meta.url))`;
    expect(read(text)).toEqual([
      ['url', false, './x.ts'],
      ['url', false, './x.js'],
    ]);
  });

  test('separates two imports and reports their lines', () => {
    const text = `import type { A } from './a.ts';\nexport class C {}\nimport type { B } from './b.ts';\n`;
    const found = importsOf(source('src/a/b.ts', text));
    expect(found.map(({ specifier, typeOnly, line }) => [specifier, typeOnly, line])).toEqual([
      ['./a.ts', true, 1],
      ['./b.ts', true, 3],
    ]);
  });
});

test('resolve returns the path of the TypeScript file, and undefined for a package', () => {
  expect(resolve('src/a/b.ts', '../c/d.ts')).toBe('src/c/d.ts');
  expect(resolve('src/a/b.ts', './worker.js')).toBe('src/a/worker.ts');
  expect(resolve('src/a/b.ts', '../../package.json')).toBe('package.json');
  expect(resolve('src/a/b.ts', 'fastify')).toBeUndefined();
});
