import type { Command } from 'commander';
import { declare } from '../declare.ts';
import { fields } from '../layout.ts';
import { ownVersion } from '../version.ts';

const countMax = 100;

export function addStatus(program: Command): void {
  declare(program, 'status', {
    summary: 'Show server reachability, the current key and record counts',
    examples: [['status'], ['status --json | jq .clock.now']],
    run: async (session) => {
      const { out, settings } = session;
      const sandbank = await session.sandbank({ retriesMax: 0 });
      const status = await sandbank.status();
      const counts = await countAll(sandbank);
      out.show({ ...status, url: settings.url, cliVersion: ownVersion(), counts }, () =>
        fields([
          ['server', `${settings.url} (API ${status.apiVersion})`],
          ['organization', `${status.organization.name} (${status.organization.id})`],
          ['application', `${status.application.name} (${status.application.id})`],
          ['key', `${status.apiKey.name} (${status.apiKey.id})`],
          ['scopes', status.apiKey.scopes.join(' ')],
          [
            'clock',
            `${status.clock.now}, ${status.clock.status}${status.clock.offsetSeconds === 0 ? '' : `, ${status.clock.offsetSeconds} s ahead`}`,
          ],
          ...Object.entries(counts).map(
            ([name, count]) =>
              [
                name,
                count === null
                  ? 'not readable with this key'
                  : count === countMax
                    ? `${countMax} or more`
                    : count,
              ] as const,
          ),
        ]),
      );
      return undefined;
    },
  });
}

type Counted = Awaited<ReturnType<import('../session.ts').Session['sandbank']>>;

/** Counts one page of each list: the API has no counts. */
async function countAll(sandbank: Counted): Promise<Record<string, number | null>> {
  const lists = {
    payments: sandbank.payments.list({ limit: countMax }),
    transfers: sandbank.transfers.list({ limit: countMax }),
    customers: sandbank.customers.list({ limit: countMax }),
    webhooks: sandbank.webhooks.list({ limit: countMax }),
    events: sandbank.events.list({ limit: countMax }),
  };
  const counted = Object.entries(lists).map(async ([name, pages]) => {
    try {
      return [name, (await pages).data.length] as const;
    } catch (error) {
      // A key without the scope may still read the status.
      if (error instanceof Error && error.name === 'PermissionError') return [name, null] as const;
      throw error;
    }
  });
  return Object.fromEntries(await Promise.all(counted));
}
