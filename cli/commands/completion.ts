import type { Command } from 'commander';
import type { Shell } from '../completion.ts';
import { declare } from '../declare.ts';
import { choice } from '../reading.ts';

const shells: readonly Shell[] = ['bash', 'zsh', 'fish'];

export function addCompletion(program: Command): void {
  declare(program, 'completion <shell>', {
    summary: 'Print a completion script for bash, zsh or fish',
    arguments: { shell: choice(...shells) },
    examples: [
      ['completion bash > ~/.local/share/bash-completion/completions/sandbank'],
      ['completion zsh > ~/.zfunc/_sandbank', 'with ~/.zfunc in $fpath'],
      ['completion fish > ~/.config/fish/completions/sandbank.fish'],
    ],
    run: async ({ out }, _options, name) => {
      const { completionScript } = await import('../completion.ts');
      const shell = name as Shell;
      const script = completionScript(program, shell);
      out.show({ object: 'completion', sandbox: true, status: 'ok', shell, script }, () => script.trimEnd());
      return undefined;
    },
  });
}
