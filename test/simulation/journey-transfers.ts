/** What the clients of a journey ask of transfers. Used as soon as the server says that it has them. */
import type { Asked } from './journey-client.ts';
import { CURRENCIES, type Entry } from './journey-commands.ts';
import type { Dice, World } from './journey-world.ts';

const scenarios: readonly string[] = [
  ...['approve', 'review', 'reject', 'return:account_closed', 'fail:provider_error'],
  ...['settle_short', 'settle_missing', 'settle_duplicate', 'settle_unknown'],
];

const states: readonly string[] = [
  ...[
    'accepted',
    'funded',
    'in_review',
    'converted',
    'sent',
    'completed',
    'completed',
    'returned',
    'refunded',
  ],
  ...['canceled', 'expired', 'failed'],
];

const beneficiary = { beneficiary: { name: 'Ada Lovelace', country: 'GB' } };

function quote(world: World, dice: Dice): Asked {
  const list = () => Array.from({ length: dice.between(1, 3) }, () => dice.one(scenarios));
  const amount = dice.between(500, 1_000_000);
  return {
    app: dice.one(world.apps),
    path: 'transfers',
    body: {
      sourceCurrency: dice.one(CURRENCIES),
      targetCurrency: dice.one(CURRENCIES),
      ...(dice.isOne(2) ? { sourceAmount: amount } : { targetAmount: amount }),
      scenario: dice.isOne(3) ? list() : dice.one(scenarios),
      ...(dice.isOne(3) ? { fundFrom: 'balance' } : {}),
      ...(dice.isOne(3) ? {} : beneficiary),
      ...(dice.isOne(2) ? { autoAdvance: true } : {}),
    },
  };
}

function advance(world: World, dice: Dice): Asked | undefined {
  const transfer = world.pick('transfer', dice);
  if (!transfer) return undefined;
  const { allowedActions = [] } = transfer.seen;
  const way = dice.below(3);
  const name = dice.one(allowedActions.length > 0 ? allowedActions : ['requote', 'refund']);
  const action = { action: name, ...(name === 'accept' && !dice.isOne(6) ? beneficiary : {}) };
  const body = way === 0 ? {} : way === 1 ? { to: dice.one(states), ...beneficiary } : action;
  return { app: world.mover(transfer, dice), path: `transfers/${transfer.id}/advance`, body };
}

export const transferEntries: readonly Entry[] = [
  { weight: 12, make: quote },
  { weight: 22, make: advance },
];

/** Whether this server has transfers, by its own description. */
export async function hasTransfers(url: string): Promise<boolean> {
  const document = (await (await fetch(`${url}/openapi.json`)).json()) as { paths: Record<string, unknown> };
  return Object.keys(document.paths).some((path) => path.endsWith('developer_api_transfers'));
}
