import type { Command } from 'commander';
import type { ListTransfersQuery, Transfer, TransferAdvance, TransferCreate } from '../../sdk/client.ts';
import { declare, group } from '../declare.ts';
import { fieldValues, transferScenarios } from '../generated/values.ts';
import { actionsText, fields } from '../layout.ts';
import { amountText, minorUnits } from '../money.ts';
import { type SearchOptions, searchOptions, showPage, withoutUndefined } from '../paging.ts';
import { wrongUsage } from '../problem.ts';
import { actionOrState, choice, currency, listOf, pairs } from '../reading.ts';
import { addTrail } from './trail.ts';

interface CreateOptions {
  readonly from: string;
  readonly to: string;
  readonly send?: string;
  readonly sendMinor?: string;
  readonly arrive?: string;
  readonly arriveMinor?: string;
  readonly customer?: string;
  readonly beneficiary?: string;
  readonly country?: string;
  readonly account?: string;
  readonly fundFrom?: 'external' | 'balance';
  readonly reference?: string;
  readonly scenario?: readonly string[];
  readonly metadata?: Readonly<Record<string, string>>;
  readonly autoAdvance?: true;
}

interface AdvanceOptions {
  readonly to?: string;
  readonly beneficiary?: string;
  readonly returnCode?: string;
  readonly failureCode?: string;
}

interface ListOptions extends SearchOptions {
  readonly status?: string;
  readonly customer?: string;
}

const scenariosWithCode = { pattern: /^(return|fail):\w{1,40}$/, description: 'return:CODE, fail:CODE' };

export function addTransfers(program: Command): void {
  const transfers = group(
    program,
    'transfers',
    'Quote FX transfers and advance them through their lifecycle',
  );
  addCreate(transfers);
  addAdvance(transfers);
  addRefund(transfers);
  addList(transfers);
  addGet(transfers);
  addTrail(transfers, 'transfers', 'trf_...');
}

function addCreate(transfers: Command): void {
  declare<CreateOptions>(transfers, 'create', {
    summary: 'Quote a transfer by the amount to send or the amount to arrive',
    details: 'Amounts are in major units and need the dot; options that end in -minor take minor units.',
    options: [
      ['--from <code>', 'source currency', currency, 'EUR'],
      ['--to <code>', 'target currency', currency, 'USD'],
      ['--send <major>', 'amount to send: 100.00'],
      ['--send-minor <count>', 'amount to send, in minor units: 10000'],
      ['--arrive <major>', 'amount to arrive'],
      ['--arrive-minor <count>', 'amount to arrive, in minor units'],
      ['--customer <id>', 'sending customer'],
      ['--beneficiary <name>', 'name of the beneficiary'],
      ['--country <code>', 'ISO 3166 code of the beneficiary'],
      ['--account <text>', 'account of the beneficiary'],
      ['--fund-from <source>', 'external or balance', choice(...fieldValues.createTransfer.fundFrom)],
      [
        '--scenario <names>',
        'behaviour of the simulated provider; also return:CODE and fail:CODE',
        listOf(transferScenarios, scenariosWithCode),
      ],
      ['--reference <text>', 'your own reference'],
      ['--metadata <name=value>', 'your own data; may be repeated', pairs],
      ['--auto-advance', 'advance automatically as the clock moves'],
    ],
    examples: [
      ['transfers create --from EUR --to USD --send 100.00 --beneficiary "Ada Lovelace"'],
      ['transfers create --from EUR --to JPY --arrive-minor 15000', 'so that 15000 JPY arrive'],
    ],
    run: async (session, options) => {
      const { from, to, customer, beneficiary, country, account, scenario } = options;
      const sourceAmount = read(options.send, options.sendMinor, from, 'send');
      const targetAmount = read(options.arrive, options.arriveMinor, to, 'arrive');
      if ((sourceAmount === undefined) === (targetAmount === undefined))
        throw wrongUsage(
          'Pass either the amount to send (--send, --send-minor) or the amount to arrive (--arrive, --arrive-minor).',
        );
      const body = withoutUndefined({
        sourceCurrency: from,
        targetCurrency: to,
        sourceAmount,
        targetAmount,
        customerId: customer,
        beneficiary:
          beneficiary === undefined ? undefined : withoutUndefined({ name: beneficiary, country, account }),
        fundFrom: options.fundFrom,
        reference: options.reference,
        scenario: scenario?.length === 1 ? scenario[0] : scenario,
        metadata: options.metadata,
        autoAdvance: options.autoAdvance,
      }) as TransferCreate;
      const transfer = await (await session.sandbank()).transfers.create(body);
      session.out.show(transfer, () => transferText(transfer));
      return undefined;
    },
  });
}

function addAdvance(transfers: Command): void {
  declare<AdvanceOptions>(transfers, 'advance <id> [action]', {
    summary: 'Advance a transfer by scenario, by action or to a state',
    arguments: { action: choice(...fieldValues.advanceTransfer.action) },
    options: [
      ['--to <state>', 'take the shortest path to this state', choice(...fieldValues.advanceTransfer.to)],
      ['--beneficiary <name>', 'name of the beneficiary, with accept'],
      ['--return-code <code>', 'reason, with return'],
      ['--failure-code <code>', 'reason, with fail'],
    ],
    examples: [
      ['transfers advance trf_... accept'],
      ['transfers advance trf_... --to completed'],
      ['transfers advance trf_... return --return-code account_closed'],
    ],
    run: async (session, options, id = '', action) => {
      const { to, beneficiary, returnCode, failureCode } = options;
      const body = withoutUndefined({
        ...actionOrState(action, to),
        beneficiary: beneficiary === undefined ? undefined : { name: beneficiary },
        returnCode,
        failureCode,
      });
      const transfer = await (await session.sandbank()).transfers.advance(id, body as TransferAdvance);
      session.out.show(transfer, () => transferText(transfer));
      return undefined;
    },
  });
}

function addRefund(transfers: Command): void {
  declare(transfers, 'refund <id>', {
    summary: 'Refund a transfer to the sender',
    examples: [['transfers refund trf_...']],
    run: async (session, _options, id = '') => {
      const transfer = await (await session.sandbank()).transfers.advance(id, { action: 'refund' });
      session.out.show(transfer, () => transferText(transfer));
      return undefined;
    },
  });
}

function addList(transfers: Command): void {
  declare<ListOptions>(transfers, 'list', {
    summary: 'List transfers, newest first',
    options: [
      ['--status <state>', 'only transfers in this state', choice(...fieldValues.listTransfers.status)],
      ['--customer <id>', 'only transfers of this customer'],
      ...searchOptions,
    ],
    examples: [['transfers list --status sent']],
    run: async (session, { status, customer, search: q, limit, cursor }) => {
      const query = withoutUndefined({
        status,
        customerId: customer,
        q,
        limit,
        cursor,
      }) as ListTransfersQuery;
      const pages = (await session.sandbank()).transfers.list(query);
      await showPage(session.out, pages, ['TRANSFER', 'STATUS', 'SENT', 'ARRIVES', 'CREATED'], (one) => [
        one.id,
        one.status,
        amountText(one.sourceAmount, one.sourceCurrency),
        amountText(one.targetAmount, one.targetCurrency),
        one.createdAt,
      ]);
      return undefined;
    },
  });
}

function addGet(transfers: Command): void {
  declare(transfers, 'get <id>', {
    summary: 'Show a transfer',
    examples: [['transfers get trf_...']],
    run: async (session, _options, id = '') => {
      const transfer = await (await session.sandbank()).transfers.retrieve(id);
      session.out.show(transfer, () => transferText(transfer));
      return undefined;
    },
  });
}

/** As for payments, with the names of these options in the messages. */
function read(
  major: string | undefined,
  minor: string | undefined,
  currency: string,
  flag: string,
): number | undefined {
  try {
    return minorUnits({ amount: major, minor }, currency);
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    throw wrongUsage(message.replaceAll('--amount', `--${flag}`).replaceAll('--minor', `--${flag}-minor`));
  }
}

function transferText(transfer: Transfer): string {
  const {
    id,
    status,
    sourceAmount,
    sourceCurrency,
    targetAmount,
    targetCurrency,
    feeAmount,
    rate,
    failure,
    returnCode,
    allowedActions,
  } = transfer;
  return fields([
    ['transfer', id],
    ['status', status],
    [
      'sends',
      `${amountText(sourceAmount, sourceCurrency)} and a fee of ${amountText(feeAmount, sourceCurrency)}`,
    ],
    ['arrives', `${amountText(targetAmount, targetCurrency)} at ${rate}`],
    ['failure', failure === null ? undefined : `${failure.code}: ${failure.message}`],
    ['returned', returnCode],
    ['actions', actionsText(allowedActions)],
  ]);
}
