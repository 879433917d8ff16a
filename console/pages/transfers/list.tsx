import { ArrowLeftRight } from 'lucide-react';
import type { Transfer } from '../../generated/shapes.ts';
import { IdText } from '../../parts/copy-button.tsx';
import { Money } from '../../parts/money.tsx';
import { StatusBadge } from '../../parts/status-badge.tsx';
import type { Column } from '../../parts/table.tsx';
import { Time } from '../../parts/time.tsx';
import { AmountCell } from '../records/amount-cell.tsx';
import { RecordList } from '../records/record-list.tsx';
import { TransferCreate } from './create.tsx';

const columns: readonly Column<Transfer>[] = [
  {
    header: 'Source',
    cell: ({ sourceAmount, sourceCurrency, id, createdAt }) => (
      <AmountCell amount={sourceAmount} currency={sourceCurrency} id={id} at={createdAt} />
    ),
  },
  {
    header: 'Target',
    isMinor: true,
    cell: ({ targetAmount, targetCurrency }) => <Money amount={targetAmount} currency={targetCurrency} />,
  },
  { header: 'Status', cell: ({ status }) => <StatusBadge status={status} /> },
  {
    header: 'Beneficiary',
    isWide: true,
    isMinor: true,
    cell: ({ beneficiary }) => beneficiary?.name ?? <span className="text-faint">None yet</span>,
  },
  { header: 'Reference', isMinor: true, cell: ({ reference }) => reference },
  {
    header: 'Id',
    isExtra: true,
    cell: ({ id }) => <IdText id={id} isShort what="transfer id" />,
  },
  { header: 'Created', isMinor: true, cell: ({ createdAt }) => <Time at={createdAt} /> },
];

export function TransferList() {
  return (
    <RecordList
      kind="transfer"
      columns={columns}
      placeholder="Reference, customer or id"
      hasCustomer
      texts={[{ name: 'reference', label: 'Reference', placeholder: 'Exact reference' }]}
      none={{
        icon: <ArrowLeftRight aria-hidden size={20} />,
        description:
          'A transfer pays a beneficiary in another currency: it is quoted at a fixed rate, accepted, funded, converted and sent.',
      }}
      create={(onClose) => <TransferCreate onClose={onClose} />}
    />
  );
}
