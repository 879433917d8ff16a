import { useFilters } from '../../client/filters.ts';
import { useRead } from '../../client/queries.ts';
import type { Payment } from '../../generated/shapes.ts';
import { Dialog } from '../../parts/dialog.tsx';
import { Skeleton } from '../../parts/skeleton.tsx';
import { PaymentCreate } from './create.tsx';

/** The form that `?create=1` opens; `&like=pay_…` fills it with the fields of a payment. */
export function CreateFromUrl() {
  const [{ like }, setFilters] = useFilters('create', 'like');
  const read = useRead<Payment>(`app/developer_api_payments/${like}`, {}, { isEnabled: like !== undefined });
  const close = () => setFilters({ create: undefined, like: undefined });
  if (like !== undefined && read.data === undefined && read.problem === null) {
    return (
      <Dialog isOpen onOpenChange={close} size="large" title="Create payment">
        <Skeleton className="h-96 w-full" />
      </Dialog>
    );
  }
  // A payment that does not exist leaves the form empty.
  return <PaymentCreate onClose={close} {...(read.data === undefined ? {} : { like: read.data })} />;
}
