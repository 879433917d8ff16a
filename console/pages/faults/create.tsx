import { useState } from 'react';
import { useLimits } from '../../client/capabilities.ts';
import { useWrite } from '../../client/queries.ts';
import type { FaultPlan } from '../../generated/shapes.ts';
import { Dialog } from '../../parts/dialog.tsx';
import { useToast } from '../../parts/toast.tsx';
import { bodyOf, emptyDraft, missingIn, PlanFields } from './form.tsx';

export function CreatePlan({ onClose }: { readonly onClose: () => void }) {
  const { toast } = useToast();
  const [draft, setDraft] = useState(emptyDraft);
  const limits = useLimits();
  const create = useWrite<FaultPlan>('app/developer_api_fault_plans', {
    onDone: () => {
      toast('Fault plan created');
      onClose();
    },
  });
  const isComplete = Object.values(missingIn(draft, limits)).every((missing) => missing === undefined);
  return (
    <Dialog
      isOpen
      onOpenChange={onClose}
      title="Create fault plan"
      description="Applies to the next matching requests with this application’s API keys, or to deliveries to its webhooks."
      submitLabel="Create fault plan"
      onSubmit={() => void create.write(bodyOf(draft))}
      isBusy={create.isBusy}
      problem={create.problem}
      code={create.request(isComplete ? bodyOf(draft) : undefined)}
    >
      <PlanFields draft={draft} onChange={setDraft} />
    </Dialog>
  );
}
