/** The simulation organization in memory: the state machines decide the same commands, without a server. */

import {
  type ApplicationSettings,
  defaultApplicationSettings,
} from '../../src/kernel/application-settings.ts';
import { presentEntry } from '../../src/resources/ledger/views.ts';
import type { RefundRow } from '../../src/resources/refunds/table.ts';
import type { Body } from '../support/api-client.ts';
import { CommandRunner } from '../support/command-runner.ts';
import type { Answer, SimulationClient, SimulationOrganization } from './clients.ts';
import { applicationSettings } from './commands.ts';

export interface MemoryOrganization extends SimulationOrganization {
  readonly runner: CommandRunner;
}

export function memoryOrganization(): MemoryOrganization {
  const runner = new CommandRunner();
  const applications = applicationSettings.map(({ fee, provider }) => {
    const terms: ApplicationSettings = {
      ...defaultApplicationSettings,
      ...(fee ? { feeBasisPoints: fee.basisPoints, feeFixed: BigInt(fee.fixedAmount) } : {}),
      ...(provider ? { provider } : {}),
    };
    return {
      client: new MemoryClient(runner, terms),
      fee: { basisPoints: BigInt(terms.feeBasisPoints), fixed: terms.feeFixed },
    };
  });
  const auditor = new MemoryClient(runner, defaultApplicationSettings);
  return { runner, orgId: runner.orgId, applications, auditor, stranger: auditor };
}

/** Serves the requests of a sequence. The server handles idempotency keys, so no key is repeated here. */
class MemoryClient implements SimulationClient {
  readonly #runner: CommandRunner;
  readonly #terms: ApplicationSettings;

  constructor(runner: CommandRunner, terms: ApplicationSettings) {
    this.#runner = runner;
    this.#terms = terms;
  }

  async get(url: string): Promise<Answer> {
    const [path = '', query = ''] = url.split('?');
    const [, id = '', part] = path.split('/');
    const paymentId = new URLSearchParams(query).get('paymentId') ?? '';
    if (path === 'developer_api_balances') return found({ accounts: this.#accounts(paymentId) });
    if (path === 'developer_api_refunds') return found({ data: this.#refunds(paymentId) });
    return found(part === 'history' ? { data: this.#history(id) } : this.#runner.show(id));
  }

  async post(url: string, body: object | undefined): Promise<Answer> {
    const [path = '', query] = url.split('?');
    const { written } = this.#runner;
    const posted = written.entries.length;
    this.#runner.settings = this.#terms;
    const { status, code, text, body: shown } = this.#runner.post(path, body);
    const ledgerEntries = written.entries.slice(posted).map(presentEntry);
    const isExpanded = query === 'expand=ledgerEntries' && code === null;
    return { status, code, text, body: isExpanded ? { ...shown, ledgerEntries } : shown, isReplay: false };
  }

  #accounts(paymentId: string): readonly object[] {
    return Object.entries(this.#runner.balancesOf(paymentId)).map(([key, balance]) => {
      const [account, currency] = key.split(' ');
      return { account, currency, balance };
    });
  }

  #refunds(paymentId: string): readonly Body[] {
    const ofPayment = ({ paymentId: own }: { readonly paymentId: string }) => own === paymentId;
    const rows = this.#runner.rows<RefundRow>('refund');
    return rows
      .filter(ofPayment)
      .map(({ id }) => this.#runner.show(id))
      .toReversed();
  }

  #history(id: string): readonly object[] {
    const { history, events } = this.#runner.written;
    return history
      .filter(({ resourceId }) => resourceId === id)
      .map(({ version, fromStatus, toStatus, eventId }) => {
        const event = events.find((one) => one.id === eventId);
        return { version, from: fromStatus, to: toStatus, event: event ? { type: event.type } : null };
      })
      .toReversed();
  }
}

function found(body: object): Answer {
  return { status: 200, code: null, text: '', body: body as Body, isReplay: false };
}
