import { useState } from 'react';
import { useWrite } from '../../client/queries.ts';
import type { FaultPlan } from '../../client/shapes.ts';
import { Dialog } from '../../parts/dialog.tsx';
import { useToast } from '../../parts/toast.tsx';
import { unsaid } from '../records/action-dialog.tsx';
import { bodyOf, emptyDraft, isComplete, PlanFields, params } from './form.tsx';

export function CreatePlan({ onClose }: { readonly onClose: () => void }) {
  const { toast } = useToast();
  const [draft, setDraft] = useState(emptyDraft);
  const create = useWrite<FaultPlan>('app/developer_api_fault_plans', {
    onDone: () => {
      toast('Fault plan made');
      onClose();
    },
  });
  return (
    <Dialog
      isOpen
      onOpenChange={onClose}
      title="Plan a fault"
      description="It hits what is asked with the keys of this application, or what is sent to its webhooks, from the next one on."
      submitLabel="Plan it"
      onSubmit={() => void create.write(bodyOf(draft))}
      isBusy={create.isBusy}
      isSubmitDisabled={!isComplete(draft)}
      problem={unsaid(create.problem, params)}
    >
      <PlanFields draft={draft} onChange={setDraft} problem={create.problem} />
    </Dialog>
  );
}
