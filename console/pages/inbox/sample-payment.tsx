import { CreditCard } from 'lucide-react';
import { useWrite } from '../../client/queries.ts';
import { SamplesPanel } from '../../code/samples-panel.tsx';
import { useAllowed } from '../../frame/session.tsx';
import type { Payment } from '../../generated/shapes.ts';
import { Button } from '../../parts/button.tsx';
import { useToast } from '../../parts/toast.tsx';
import { createSamplePayment, samplePayment } from './requests.ts';

/** Creates a payment that advances by itself, so that several events follow. */
export function SamplePaymentButton({ isPrimary = false }: { readonly isPrimary?: boolean }) {
  const { toast } = useToast();
  const isAllowed = useAllowed('developer');
  const create = useWrite<Payment>('app/developer_api_payments', {
    onDone: () => toast('Sample payment created'),
    onFailed: ({ message }) => toast(message, { isBad: true }),
  });
  if (!isAllowed) return null;
  return (
    <Button
      variant={isPrimary ? 'primary' : 'plain'}
      icon={<CreditCard aria-hidden size={15} />}
      isBusy={create.isBusy}
      onClick={() => void create.write(samplePayment)}
    >
      Create a sample payment
    </Button>
  );
}

/** The same request as code. */
export function SamplePaymentCode() {
  return <SamplesPanel request={createSamplePayment} title="Create a payment" />;
}
