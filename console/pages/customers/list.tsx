import { Users } from 'lucide-react';
import { useOpenCreated } from '../../client/filters.ts';
import type { Customer } from '../../generated/shapes.ts';
import { IdText } from '../../parts/copy-button.tsx';
import { StatusBadge } from '../../parts/status-badge.tsx';
import type { Column } from '../../parts/table.tsx';
import { Time } from '../../parts/time.tsx';
import { RecordList } from '../records/record-list.tsx';
import { CustomerForm } from './form.tsx';

const columns: readonly Column<Customer>[] = [
  { header: 'Name', isWide: true, cell: ({ name, email, id }) => name ?? email ?? id },
  { header: 'Email', isWide: true, isMinor: true, cell: ({ email }) => email },
  { header: 'Reference', isMinor: true, cell: ({ reference }) => reference },
  { header: 'Status', cell: ({ status }) => <StatusBadge status={status} /> },
  {
    header: 'Id',
    isExtra: true,
    cell: ({ id }) => <IdText id={id} isShort what="customer id" />,
  },
  { header: 'Created', cell: ({ createdAt }) => <Time at={createdAt} /> },
];

export function CustomerList() {
  const openCreated = useOpenCreated();
  return (
    <RecordList
      kind="customer"
      columns={columns}
      placeholder="Name, email, reference or id"
      texts={[{ name: 'reference', label: 'Reference', placeholder: 'Exact reference' }]}
      none={{
        icon: <Users aria-hidden size={20} />,
        description:
          'A customer is a payer. Payments and transfers can reference one; its page lists its payments.',
      }}
      create={(onClose) => (
        <CustomerForm onClose={onClose} onDone={({ id }) => void openCreated(`customers/${id}`)} />
      )}
    />
  );
}
