import { describe, expect, test } from 'vitest';
import { mergeGitignore, mergeMcp } from '../../cli/init/merge.ts';
import { detectProject, type Manifest, parseManifest } from '../../cli/init/project.ts';
import { seedTemplate } from '../../cli/init/templates.ts';
import { checkedSeed } from '../../src/admin/seed.ts';
import { scopes } from '../../src/kernel/permissions.ts';

const project = (manifest: Manifest | undefined, ...files: string[]) =>
  detectProject(manifest, {
    has: (name) => files.includes(name),
    nearest: (names) => files.find((file) => names.some((name) => file.endsWith(name))),
  });

describe('the project', () => {
  test.each<[string, Manifest | undefined, readonly string[], object]>([
    ['an empty folder', undefined, [], { runner: 'node', packageManager: 'npm', testFolder: 'test' }],
    ['Vitest', { devDependencies: { vitest: '4' } }, [], { runner: 'vitest', isTypescript: false }],
    ['Vitest in a monorepo', { scripts: { test: 'vitest run' } }, [], { runner: 'vitest' }],
    ['Jest', { devDependencies: { jest: '30' } }, [], { runner: 'jest', isModule: false }],
    [
      'two runners, of which the test script uses one',
      { scripts: { test: 'jest' }, devDependencies: { vitest: '4', jest: '30' } },
      [],
      { runner: 'jest' },
    ],
    ['Mocha', { devDependencies: { mocha: '11' } }, ['test'], { runner: 'mocha', testFolder: '.' }],
    ['another runner', { devDependencies: { ava: '6' } }, [], { runner: 'node' }],
    ['Python', undefined, ['pyproject.toml'], { runner: 'pytest', testFolder: 'tests', usesPackage: false }],
    ['Python with a tests folder', undefined, ['requirements.txt', 'test'], { testFolder: 'test' }],
    ['Python and Vitest', { devDependencies: { vitest: '4' } }, ['pyproject.toml'], { runner: 'vitest' }],
    ['TypeScript', { devDependencies: { typescript: '5' } }, [], { isTypescript: true }],
    ['a tsconfig', {}, ['tsconfig.json'], { isTypescript: true }],
    ['ES modules', { type: 'module' }, [], { isModule: true }],
    ['a tests folder', {}, ['tests'], { testFolder: 'tests' }],
    ['fields of other types', { scripts: 1 as never, dependencies: [] as never }, [], { runner: 'node' }],
    ['npm', {}, ['package-lock.json'], { packageManager: 'npm' }],
    ['pnpm', {}, ['pnpm-lock.yaml'], { packageManager: 'pnpm' }],
    ['Yarn', {}, ['../../yarn.lock'], { packageManager: 'yarn' }],
    ['Bun', {}, ['bun.lockb'], { packageManager: 'bun' }],
    [
      'a declared package manager',
      { packageManager: 'pnpm@10.0.0' },
      ['package-lock.json'],
      { packageManager: 'pnpm' },
    ],
    ['the package not installed', {}, [], { packageFolder: 'node_modules/sandbank', isInstalled: false }],
    [
      'the package installed above',
      {},
      ['../../node_modules/sandbank/package.json'],
      { packageFolder: '../../node_modules/sandbank', isInstalled: true },
    ],
    ['Plug’n’Play', {}, ['.pnp.cjs'], { packageFolder: undefined, usesPackage: true }],
    [
      'a Vitest configuration',
      { devDependencies: { vitest: '4' } },
      ['vitest.config.ts', 'vite.config.ts'],
      { runnerConfig: 'vitest.config.ts' },
    ],
    [
      'a Vite configuration that Vitest reads',
      { devDependencies: { vitest: '4' } },
      ['vite.config.js'],
      { runnerConfig: 'vite.config.js' },
    ],
    [
      'a Jest configuration in package.json',
      { devDependencies: { jest: '30' }, jest: {} },
      [],
      { runnerConfig: 'package.json' },
    ],
  ])('is read from %s', (_name, manifest, files, expected) => {
    expect(project(manifest, ...files)).toMatchObject(expected);
  });

  test.each(['', '[]', 'null', '{"name":'])('is rejected when package.json is %j', (text) => {
    expect(() => parseManifest(text)).toThrow('package.json is not a JSON object');
  });
});

describe('.gitignore', () => {
  test.each([
    [undefined, '.sandbank/\n'],
    ['', '.sandbank/\n'],
    ['node_modules/\n', 'node_modules/\n.sandbank/\n'],
    ['node_modules/', 'node_modules/\n.sandbank/\n'],
    ['a\r\nb\r\n', 'a\r\nb\r\n.sandbank/\r\n'],
    ['a\r\nb', 'a\r\nb\r\n.sandbank/\r\n'],
    ['# .sandbank/\n', '# .sandbank/\n.sandbank/\n'],
    ['.sandbank2\n', '.sandbank2\n.sandbank/\n'],
  ])('%j becomes %j, and a second run changes nothing', (text, content) => {
    expect(mergeGitignore(text)).toEqual({ content });
    expect(mergeGitignore(content)).toEqual({ reason: 'exists, left unchanged' });
  });

  test.each(['.sandbank', '/.sandbank/', '**/.sandbank', '.sandbank/*', 'a\r\n.sandbank \r\nb'])(
    '%j ignores the data directory already',
    (text) => {
      expect(mergeGitignore(text)).toEqual({ reason: 'exists, left unchanged' });
    },
  );
});

describe('.mcp.json', () => {
  const server = { command: 'npx', args: ['sandbank', 'mcp'] };
  const merged = (text: string | undefined): string => {
    const result = mergeMcp(text);
    if ('reason' in result) throw new Error(result.reason);
    return result.content;
  };

  test('gets the server entry once', () => {
    expect(JSON.parse(merged(undefined))).toEqual({ mcpServers: { sandbank: server } });
    expect(JSON.parse(merged('{}'))).toEqual({ mcpServers: { sandbank: server } });
    expect(mergeMcp(merged(undefined))).toEqual({ reason: 'exists, left unchanged' });
  });

  test('preserves other servers, other fields, indentation and line endings', () => {
    const text = '{\r\n\t"other": [1],\r\n\t"mcpServers": {\r\n\t\t"db": { "command": "db" }\r\n\t}\r\n}\r\n';
    const content = merged(text);
    expect(JSON.parse(content)).toEqual({
      other: [1],
      mcpServers: { db: { command: 'db' }, sandbank: server },
    });
    expect(content).toMatch(/^\{\r\n\t"other"/);
    expect(content.replaceAll('\r\n', '')).not.toContain('\n');
  });

  test('does not replace an existing server of that name', () => {
    expect(mergeMcp('{"mcpServers":{"sandbank":{"command":"mine"}}}')).toEqual({
      reason: 'exists, left unchanged',
    });
  });

  test.each(['{ // comment\n}', '[]', '{"mcpServers":[]}', ''])(
    'is unchanged when it is %j, and the message says what to add',
    (text) => {
      expect(mergeMcp(text)).toEqual({
        reason: 'is not a JSON object with "mcpServers", left unchanged',
        todo: JSON.stringify({ mcpServers: { sandbank: server } }),
      });
    },
  );
});

test('the seed file is valid, has all scopes, and each has its own key', () => {
  const seeds = [1, 2].map(() => checkedSeed(JSON.parse(seedTemplate('./x.json').content), 'The seed'));
  const keys = seeds.map(({ organizations }) => organizations[0]?.applications?.[0]?.apiKeys?.[0]);
  expect(keys[0]?.scopes).toEqual([...scopes]);
  expect(keys[0]?.key).not.toBe(keys[1]?.key);
});
