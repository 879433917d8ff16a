// Drives the real shells. A shell that is not installed is skipped, and the test name says which one.
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { run } from '../../support/command.ts';
import { leaves } from './tree.ts';

const shells = ['bash', 'zsh', 'fish'] as const;
type Shell = (typeof shells)[number];
const installed = shells.filter((shell) => spawnSync(shell, ['--version']).status === 0);

const folder = mkdtempSync(join(tmpdir(), 'sandbank-completion-'));
/** As documented: a folder in `$fpath` with a file `_sandbank`. */
const zshFolder = join(folder, 'zfunc');
const fileOf = (shell: Shell) => (shell === 'zsh' ? join(zshFolder, '_sandbank') : join(folder, shell));

beforeAll(async () => {
  mkdirSync(zshFolder);
  for (const shell of shells) {
    const { code, stdout } = await run(['completion', shell]);
    expect(code).toBe(0);
    writeFileSync(fileOf(shell), stdout);
  }
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/**
 * The completions of each line. bash completes only the part after the last colon, so the part before it is restored.
 */
const complete: Record<Shell, (lines: readonly string[]) => readonly (readonly string[])[]> = {
  bash: (lines) => {
    const script = `source "$1"; shift
      for COMP_LINE; do COMP_POINT=\${#COMP_LINE}; _sandbank; printf '%s\\n' "\${COMPREPLY[@]}"; echo END; done`;
    return sections(['bash', '-c', script, 'bash', fileOf('bash'), ...lines]);
  },
  fish: (lines) => {
    const script = `source ${fileOf('fish')}; for line in $argv; complete -C "$line" | string replace -r '\\t.*' ''; echo END; end`;
    return sections(['fish', '--no-config', '-c', script, '--', ...lines]);
  },
  // Types the line and a Tab into a shell in a pseudo-terminal. The matches of `compadd` are the completions offered.
  zsh: (lines) => {
    const inner = `PROMPT= ; setopt no_beep; fpath=(${zshFolder} $fpath); autoload -Uz compinit; compinit -u -D
compadd() {
  if [[ $* == *(-O|-A|-D)\\ * ]]; then builtin compadd "$@"; return; fi
  local -a hits; builtin compadd -A hits "$@"; print -rl -- $hits >> ${folder}/hits; builtin compadd "$@"
}
finish() { print -r -- "END" >> ${folder}/hits; print -r -- "<"DONE">" }
tab() { comppostfuncs=(finish); zle complete-word; zle kill-whole-line }
zle -N tab; bindkey '^I' tab; print "<"READY">"`;
    writeFileSync(join(folder, 'inner'), inner);
    writeFileSync(join(folder, 'hits'), '');
    const script = `zmodload zsh/zpty; zpty z zsh -f -i; zpty -w z "source ${folder}/inner"; zpty -r z out '*<READY>*'
      for line; do zpty -w -n z "$line"$'\\t'; zpty -r z out '*<DONE>*'; done; zpty -d z; cat ${folder}/hits`;
    return sections(['zsh', '-f', '-c', script, 'zsh', ...lines]);
  },
};

function sections([command = '', ...args]: readonly string[]): readonly (readonly string[])[] {
  const output = execFileSync(command, args, {
    encoding: 'utf8',
    timeout: 120_000,
    env: { ...process.env, TERM: 'xterm' },
  });
  return output
    .split(/^END\n/m)
    .slice(0, -1)
    .map((section) => section.split('\n').filter((line) => line !== ''));
}

/** A line, and the completions that must be offered: exactly these, or at least these. */
const cases: readonly (readonly [line: string, offered: readonly string[], isExact: boolean])[] = [
  ['sandbank ', ['payments', 'start', 'listen'], false],
  ['sandbank pay', ['payments'], true],
  ['sandbank payments ', ['create', 'advance', 'refund', 'list', 'get'], false],
  ['sandbank payments create --am', ['--amount'], true],
  ['sandbank payments create --amount 12.50 --cur', ['--currency'], true],
  ['sandbank start --po', ['--port'], true],
  ['sandbank start --role ', ['all', 'api', 'worker'], true],
  ['sandbank webhooks verify --sig', ['--signature'], true],
  ['sandbank payments list --status ca', ['captured', 'canceled'], true],
  ['sandbank --json payments list --limit 5 --status se', ['settled'], true],
  ['sandbank payments advance pay_1 cap', ['capture'], true],
  ['sandbank payments create --currency EU', ['EUR'], true],
  ['sandbank trigger payment.cap', ['payment.captured'], true],
  ['sandbank refunds advance rfd_1 suc', ['succeed'], true],
  ['sandbank disputes list --status w', ['won'], true],
  ['sandbank reconciliation --result ma', ['matched'], true],
  ['sandbank webhooks update whk_1 --retry-profile f', ['fast'], true],
  ['sandbank rates --from EU', ['EUR'], true],
  ['sandbank state-machines di', ['dispute'], true],
  ['sandbank open do', ['docs'], true],
  ['sandbank get disp', ['disputes'], true],
  ['sandbank post -d amount=1 tra', ['transfers'], true],
  ['sandbank completion f', ['fish'], true],
  ['sandbank fly ', ['payments'], false],
];

describe('completion', () => {
  for (const shell of shells) {
    const isMissing = !installed.includes(shell);
    test.skipIf(isMissing)(`${shell} offers commands, options and values`, () => {
      const offered = complete[shell](cases.map(([line]) => line));
      for (const [at, [line, expected, isExact]] of cases.entries()) {
        const completions = offered[at]?.toSorted() ?? [];
        if (isExact) expect(completions, line).toEqual(expected.toSorted());
        else expect(completions, line).toEqual(expect.arrayContaining([...expected]));
      }
    });

    test.skipIf(isMissing)(`${shell} completes lists after a comma, and values with a colon`, () => {
      const [list = [], scenario = []] = complete[shell]([
        'sandbank listen --events payment.captured,refund.s',
        'sandbank payments create --scenario decline:insuf',
      ]);
      expect(list.map((value) => value.replace(/^payment\.captured,/, ''))).toEqual(['refund.succeeded']);
      expect(scenario.map((value) => value.replace(/^decline:/, ''))).toEqual(['insufficient_funds']);
    });

    test.skipIf(isMissing)(`${shell} offers every command`, () => {
      const paths = leaves().map(({ path }) => path.split(' '));
      const offered = complete[shell](paths.map((path) => `sandbank ${path.join(' ')}`));
      for (const [at, path] of paths.entries()) expect(offered[at], path.join(' ')).toContain(path.at(-1));
    });
  }

  test('rejects another shell with exit code 2', async () => {
    const { code, stderr } = await run(['completion', 'tcsh']);
    expect([code, stderr]).toEqual([2, expect.stringMatching(/"tcsh" is not a valid shell\..*zsh/)]);
  });
});
