import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { run } from '../../support/command.ts';
import { leaves } from './tree.ts';

const has = (shell: string) => spawnSync(shell, ['--version']).status === 0;

describe('completion', () => {
  const folder = mkdtempSync(join(tmpdir(), 'sandbank-completion-'));
  const scripts: Record<string, string> = {};
  beforeAll(async () => {
    for (const shell of ['bash', 'zsh', 'fish']) {
      const { code, stdout } = await run(['completion', shell]);
      expect(code).toBe(0);
      scripts[shell] = stdout;
      writeFileSync(join(folder, shell), stdout);
    }
  });
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  /** What bash offers behind these words, asked as the shell asks. */
  function offered(...words: string[]): string[] {
    const script = `source "$1"; shift; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _sandbank; printf '%s\\n' "\${COMPREPLY[@]}"`;
    const output = execFileSync('bash', ['-c', script, 'bash', join(folder, 'bash'), 'sandbank', ...words], {
      encoding: 'utf8',
    });
    return output.split('\n').filter((word) => word !== '');
  }

  test.skipIf(!has('bash'))('bash completes commands, their commands and their flags', () => {
    expect(offered('pay')).toEqual(['payments']);
    expect(offered('payments', '')).toEqual(
      expect.arrayContaining(['create', 'advance', 'refund', 'list', 'get', '--json']),
    );
    expect(offered('payments', 'create', '--am')).toEqual(['--amount']);
    expect(offered('payments', 'create', '--amount', '12.50', '--cur')).toEqual(['--currency']);
    expect(offered('start', '--p')).toEqual(['--port']);
    expect(offered('listen', '--forward-to', 'http://x/', '--sk')).toEqual(['--skip-verify']);
    expect(offered('webhooks', 'verify', '--sig')).toEqual(['--signature']);
    expect(offered('fly')).toEqual([]);
    for (const { path } of leaves()) {
      const words = path.split(' ');
      const last = words.at(-1) ?? '';
      expect(offered(...words)).toContain(last);
    }
  });

  test.each(['zsh', 'fish'])('%s gets a script that it accepts, with every command in it', (shell) => {
    for (const { path } of leaves()) expect(scripts[shell]).toContain(path.split(' ').at(-1));
    if (!has(shell)) return console.warn(`not parsed: ${shell} is not installed`);
    expect(spawnSync(shell, ['-n', join(folder, shell)]).status).toBe(0);
  });

  test('another shell is refused with 2', async () => {
    const { code, stderr } = await run(['completion', 'tcsh']);
    expect([code, stderr]).toEqual([2, expect.stringMatching(/bash, zsh, fish, not for "tcsh"/)]);
  });
});
