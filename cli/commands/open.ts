import type { Command } from 'commander';
import { declare } from '../declare.ts';
import { wrongUsage } from '../problem.ts';
import { choiceOr } from '../reading.ts';
import type { Session } from '../session.ts';

/** The console page of a record, by the prefix of its id. */
export const recordPages: Readonly<Record<string, string>> = {
  pay: 'payments',
  cus: 'customers',
  trf: 'transfers',
  rfd: 'refunds',
  dsp: 'disputes',
  whk: 'webhooks',
  evt: 'events',
  dlv: 'deliveries',
  req: 'requests',
  app: 'applications',
};

const pages = { console: '/console', docs: '/docs', api: '/docs/reference' } as const;

export function addOpen(program: Command): void {
  declare<{ readonly browser: boolean }>(program, 'open [target]', {
    summary: 'Open the console, the docs or a record in the browser',
    arguments: {
      target: choiceOr(
        { pattern: /^[a-z]{3}_\w+$/, description: 'the id of a record' },
        ...Object.keys(pages),
      ),
    },
    details:
      'The target is console, docs, api (the API reference) or the id of a record. The address is always printed. No browser is opened with --no-browser or --json, in a pipe, in CI, or without a display.',
    options: [['--no-browser', 'print the address only']],
    examples: [['open'], ['open docs'], ['open pay_...', 'the page of a payment'], ['open --json']],
    run: async (session, { browser }, target = 'console') => {
      const { out, stdout, env } = session;
      const base = session.settings.url.replace(/\/+$/, '');
      const urls = Object.fromEntries(Object.entries(pages).map(([name, path]) => [name, `${base}${path}`]));
      const url = urls[target] ?? (await recordUrl(session, `${base}${pages.console}`, target));
      const isWanted = browser && !out.isJson && (stdout as { isTTY?: boolean }).isTTY === true;
      out.show({ object: 'addresses', sandbox: true, status: 'ok', url, ...urls }, () => url);
      if (!isWanted) return undefined;
      const { openBrowser } = await import('../browser.ts');
      if (!(await openBrowser(url, env))) out.say('No browser could be opened. Open the address yourself.');
      return undefined;
    },
  });
}

/** Console URLs contain the organization and the application, which the API key identifies. */
async function recordUrl(session: Session, console: string, id: string): Promise<string> {
  const page = recordPages[id.slice(0, 3)];
  if (page === undefined)
    throw wrongUsage(
      `"${id}" has no page in the console. Records with a page have ids that start with ${Object.keys(recordPages).join('_, ')}_.`,
    );
  const { organization, application } = await (await session.sandbank()).status();
  return `${console}/${organization.id}/${page}/${id}?app=${application.id}`;
}
