import { Archive, Pencil, Plus } from 'lucide-react';
import { useState } from 'react';
import { useList, useRead, useWrite } from '../../client/queries.ts';
import { useRecordId } from '../../frame/params.ts';
import { useAllowed } from '../../frame/session.tsx';
import type { Customer, Payment } from '../../generated/shapes.ts';
import { Anchor } from '../../parts/anchor.tsx';
import { Button } from '../../parts/button.tsx';
import { ConfirmDialog } from '../../parts/dialog.tsx';
import { EmptyState } from '../../parts/empty-state.tsx';
import { ExportButton } from '../../parts/export-button.tsx';
import { Table } from '../../parts/table.tsx';
import { useToast } from '../../parts/toast.tsx';
import { paymentColumns } from '../payments/columns.tsx';
import { PaymentCreate } from '../payments/create.tsx';
import { FactsCard, instants, MetadataCard } from '../records/facts.tsx';
import { RecordColumns, RecordPage } from '../records/record-page.tsx';
import { customerRequests } from '../records/record-requests.ts';
import { CustomerForm } from './form.tsx';

export function CustomerDetail() {
  const id = useRecordId();
  const read = useRead<Customer>(`app/developer_api_customers/${id}`);
  return (
    <RecordPage
      id={id}
      name="Customer"
      parent={{ to: 'customers', label: 'Customers' }}
      read={read}
      heading={({ name, email }) => name ?? email ?? 'Customer'}
      requests={({ status }) => customerRequests(id, status === 'active')}
      actions={(customer) => <CustomerActions customer={customer} />}
    >
      {(customer) => (
        <RecordColumns aside={<Aside customer={customer} />}>
          <CustomerPayments customer={customer} />
        </RecordColumns>
      )}
    </RecordPage>
  );
}

function CustomerActions({ customer }: { readonly customer: Customer }) {
  const mayWrite = useAllowed('developer');
  const { toast } = useToast();
  const [opened, setOpened] = useState<'edit' | 'archive' | null>(null);
  const archive = useWrite<Customer>(`app/developer_api_customers/${customer.id}/archive`, {
    onDone: () => {
      toast('Customer archived');
      setOpened(null);
    },
  });
  if (!mayWrite || customer.status === 'archived') return null;
  const close = () => setOpened(null);
  return (
    <>
      <Button icon={<Pencil aria-hidden size={15} />} onClick={() => setOpened('edit')}>
        Edit
      </Button>
      <Button icon={<Archive aria-hidden size={15} />} onClick={() => setOpened('archive')}>
        Archive…
      </Button>
      {opened === 'edit' ? <CustomerForm customer={customer} onClose={close} onDone={close} /> : null}
      <ConfirmDialog
        isOpen={opened === 'archive'}
        onOpenChange={close}
        title="Archive this customer?"
        confirmLabel="Archive"
        isDanger
        isBusy={archive.isBusy}
        problem={archive.problem}
        onConfirm={() => void archive.write({})}
        code={archive.request({})}
      >
        New payments cannot reference it, and it becomes read-only. Its payments do not change.
      </ConfirmDialog>
    </>
  );
}

function Aside({ customer }: { readonly customer: Customer }) {
  return (
    <>
      <FactsCard
        title="Details"
        items={[
          ['Name', customer.name],
          ['Email', customer.email],
          ['Phone', customer.phone],
          ['Reference', customer.reference],
          ...instants([
            ['Created', customer.createdAt],
            ['Changed', customer.updatedAt],
          ]),
        ]}
      />
      <MetadataCard metadata={customer.metadata} />
    </>
  );
}

/** In the narrow column beside the details, and without what is the same in every row. */
const columns = paymentColumns
  .filter(({ header }) => !['Customer', 'Id', 'Method'].includes(header))
  .map((column) => (column.header === 'Description' ? { ...column, isExtra: true } : column));

function CustomerPayments({ customer }: { readonly customer: Customer }) {
  const mayPay = useAllowed('developer') && customer.status === 'active';
  const [isCreating, setCreating] = useState(false);
  const list = useList<Payment>('app/developer_api_payments', { customerId: customer.id }, { limit: 10 });
  const create = mayPay ? (
    <Button size="small" icon={<Plus aria-hidden size={14} />} onClick={() => setCreating(true)}>
      Create payment
    </Button>
  ) : undefined;
  return (
    <section>
      <div className="mb-3 flex flex-wrap items-center justify-between gap-2">
        <h2 className="text-lg font-semibold">Payments</h2>
        <div className="flex items-center gap-3">
          <Anchor to="payments" search={{ customerId: customer.id }}>
            View all
          </Anchor>
          <ExportButton
            path="app/developer_api_payments"
            filters={{ customerId: customer.id }}
            name="payments"
          />
          {create}
        </div>
      </div>
      <Table
        caption="Payments of this customer"
        columns={columns}
        list={list}
        rowKey={({ id }) => id}
        rowLink={({ id }) => `payments/${id}`}
        empty={<EmptyState title="No payments yet">Payments of this customer are listed here.</EmptyState>}
      />
      {isCreating ? <PaymentCreate customerId={customer.id} onClose={() => setCreating(false)} /> : null}
    </section>
  );
}
