import type { Command } from 'commander';
import { declare } from '../declare.ts';

export function addOpen(program: Command): void {
  declare(program, 'open', {
    summary: 'Print the addresses of the console, the docs and the API',
    examples: [['open'], ['open --json']],
    run: ({ out, settings }) => {
      const url = settings.url.replace(/\/+$/, '');
      const addresses = { console: `${url}/console`, docs: `${url}/docs`, api: `${url}/_api` };
      out.show({ object: 'addresses', sandbox: true, status: 'ok', ...addresses }, () => addresses.console);
      return Promise.resolve(undefined);
    },
  });
}
