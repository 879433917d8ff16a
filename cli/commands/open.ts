import type { Command } from 'commander';
import { declare } from '../declare.ts';
import { wrongUsage } from '../problem.ts';
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

export function addOpen(program: Command): void {
  declare<{ readonly browser: boolean }>(program, 'open [target]', {
    summary: 'Open the console, the docs, the API reference or a record in the browser',
    details:
      'The target is console, docs, api or the id of a record. The address is always printed. No browser is opened with --no-browser or --json, in a pipe, in CI, or without a display.',
    options: [['--no-browser', 'print the address only']],
    examples: [['open'], ['open docs'], ['open pay_...', 'the page of a payment'], ['open --json']],
    run: async (session, { browser }, target = 'console') => {
      const { out, stdout, env } = session;
      const base = session.settings.url.replace(/\/+$/, '');
      const pages = { console: `${base}/console`, docs: `${base}/docs`, api: `${base}/docs/reference` };
      const url = isPage(pages, target) ? pages[target] : await recordUrl(session, pages.console, target);
      const isWanted = browser && !out.isJson && (stdout as { isTTY?: boolean }).isTTY === true;
      out.show({ object: 'addresses', sandbox: true, status: 'ok', url, ...pages }, () => url);
      if (!isWanted) return undefined;
      const { openBrowser } = await import('../browser.ts');
      if (!(await openBrowser(url, env))) out.say('No browser could be opened. Open the address yourself.');
      return undefined;
    },
  });
}

function isPage<Pages extends object>(pages: Pages, name: string): name is string & keyof Pages {
  return Object.hasOwn(pages, name);
}

/** The console shows records by organization and application, which the key tells. */
async function recordUrl(session: Session, console: string, id: string): Promise<string> {
  const page = /^[a-z]{3}_\w+$/.test(id) ? recordPages[id.slice(0, 3)] : undefined;
  if (page === undefined)
    throw wrongUsage(
      `"${id}" has no page. Give console, docs, api, or an id that starts with ${Object.keys(recordPages).join('_, ')}_.`,
    );
  const { organization, application } = await (await session.sandbank()).status();
  return `${console}/${organization.id}/${page}/${id}?app=${application.id}`;
}
