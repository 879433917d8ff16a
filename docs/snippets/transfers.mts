import { Sandbank } from 'sandbank/client';

const sandbank = new Sandbank();
const transfer = await sandbank.transfers.create({
  sourceCurrency: 'EUR',
  targetCurrency: 'USD',
  sourceAmount: 10000,
  beneficiary: { name: 'Grace Hopper' },
});
console.log(transfer.object, transfer.status);

const accepted = await sandbank.transfers.advance(transfer.id, { action: 'accept' });
console.log(accepted.object, accepted.status);
const completed = await sandbank.transfers.advance(
  transfer.id,
  { to: 'completed' },
  { expand: 'ledgerEntries' },
);
console.log(completed.object, completed.status);
