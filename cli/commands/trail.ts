import type { Command } from 'commander';
import type {
  LedgerEntry,
  ListPaymentProviderEventsQuery,
  PaymentHistory,
  TransferHistory,
} from '../../sdk/client.ts';
import { declare } from '../declare.ts';
import { fieldValues } from '../generated/values.ts';
import { amountText } from '../money.ts';
import { type PageOptions, pageOptions, showPage, withoutUndefined } from '../paging.ts';
import { choice } from '../reading.ts';

type History = PaymentHistory | TransferHistory;

/** What a payment or a transfer has been through: its state changes, the provider's events and its ledger entries. */
export function addTrail(parent: Command, kind: 'payments' | 'transfers', id: string): void {
  const one = kind === 'payments' ? 'payment' : 'transfer';
  declare<PageOptions>(parent, 'history <id>', {
    summary: `Show every state change of a ${one}, newest first`,
    options: [...pageOptions],
    examples: [[`${kind} history ${id}`], [`${kind} history ${id} --json | jq '.data[].ledgerEntries'`]],
    run: async (session, { limit, cursor }, id = '') => {
      const pages = (await session.sandbank())[kind].history(id, withoutUndefined({ limit, cursor }));
      const head = ['AT', 'ACTION', 'FROM', 'TO', 'EVENT', 'ACTOR'];
      await showPage<History['data'][number], History>(session.out, pages, head, (change) => [
        change.at,
        change.action,
        change.from ?? '',
        change.to,
        change.event?.type ?? '',
        change.actor.id,
      ]);
      return undefined;
    },
  });
  declare<PageOptions & { readonly outcome?: string }>(parent, 'provider-events <id>', {
    summary: `List the raw provider events of a ${one}, newest first`,
    options: [
      [
        '--outcome <outcome>',
        'applied, ignored or duplicate',
        choice(...fieldValues.listPaymentProviderEvents.outcome),
      ],
      ...pageOptions,
    ],
    examples: [[`${kind} provider-events ${id}`]],
    run: async (session, { outcome, limit, cursor }, id = '') => {
      const query = withoutUndefined({ outcome, limit, cursor }) as ListPaymentProviderEventsQuery;
      const pages = (await session.sandbank())[kind].providerEvents(id, query);
      const head = ['RECEIVED', 'PROVIDER', 'TYPE', 'OUTCOME', 'ACTION', 'PROVIDER EVENT'];
      await showPage(session.out, pages, head, (event) => [
        event.receivedAt,
        event.provider,
        event.type,
        event.outcome,
        event.action,
        event.providerEventId,
      ]);
      return undefined;
    },
  });
  declare<PageOptions>(parent, 'ledger <id>', {
    summary:
      kind === 'payments'
        ? 'List the ledger entries of a payment, its refunds and disputes, newest first'
        : 'List the ledger entries of a transfer, newest first',
    options: [...pageOptions],
    examples: [[`${kind} ledger ${id}`]],
    run: async (session, { limit, cursor }, id = '') => {
      const pages = (await session.sandbank())[kind].ledgerEntries(id, withoutUndefined({ limit, cursor }));
      await showPage(session.out, pages, ledgerHead, ledgerRow);
      return undefined;
    },
  });
}

export const ledgerHead = ['ENTRY', 'CREATED', 'REASON', 'POSTINGS'] as const;

export function ledgerRow({ id, createdAt, reason, postings }: LedgerEntry): readonly string[] {
  const shown = postings.map(({ account, amount, currency }) => `${account} ${amountText(amount, currency)}`);
  return [id, createdAt, reason, shown.join(', ')];
}
