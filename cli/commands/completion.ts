import type { Command } from 'commander';
import { declare } from '../declare.ts';
import { wrongUsage } from '../problem.ts';

export function addCompletion(program: Command): void {
  declare(program, 'completion <shell>', {
    summary: 'Print a completion script for bash, zsh or fish',
    examples: [
      ['completion bash > ~/.local/share/bash-completion/completions/sandbank'],
      ['completion zsh > ~/.zfunc/_sandbank'],
      ['completion fish > ~/.config/fish/completions/sandbank.fish'],
    ],
    run: async ({ out }, _options, name) => {
      const { completionScript, shells } = await import('../completion.ts');
      const shell = shells.find((one) => one === name);
      if (shell === undefined)
        throw wrongUsage(`There is a script for ${shells.join(', ')}, not for "${name}".`);
      const script = completionScript(program, shell);
      out.show({ object: 'completion', sandbox: true, status: 'ok', shell, script }, () => script.trimEnd());
      return undefined;
    },
  });
}
