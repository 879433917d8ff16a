import { CornerDownRight, FastForward } from 'lucide-react';
import { useState } from 'react';
import { useWrite } from '../../client/queries.ts';
import type { Path } from '../../client/request.ts';
import { useAllowed } from '../../frame/session.tsx';
import { Button } from '../../parts/button.tsx';
import { Card } from '../../parts/card.tsx';
import { ConfirmDialog } from '../../parts/dialog.tsx';
import { ProblemBanner } from '../../parts/problem.tsx';
import { sentenceCase } from '../../parts/text.ts';
import { useToast } from '../../parts/toast.tsx';
import { ActionDialog } from './action-dialog.tsx';
import { fieldsOfAction, isIrreversible, type Resource } from './action-fields.ts';
import type { ActionMoney } from './action-form.tsx';
import { spaced, useMachine } from './diagram.tsx';
import { reachableStates } from './machine.ts';
import { TargetStateDialog } from './target-state-dialog.tsx';

export interface ActionsProps {
  readonly resource: Resource;
  readonly id: string;
  readonly status: string;
  readonly allowed: readonly string[];
  readonly money: ActionMoney;
  readonly hasBeneficiary?: boolean;
}

interface AdvanceResponse {
  readonly object: string;
  readonly status: string;
}

/** The open dialog: none, a form for one action, or the target state dialog. */
type Opened = { readonly action: string } | 'goal' | null;

/** The record's allowed actions. Actions without fields run immediately; irreversible ones ask for confirmation. */
export function Actions({ resource, id, status, allowed, money, hasBeneficiary = false }: ActionsProps) {
  const { toast } = useToast();
  const mayWrite = useAllowed('developer');
  const { machine } = useMachine(resource);
  const [opened, setOpened] = useState<Opened>(null);
  const path: Path = `app/developer_api_${resource}s/${id}/advance`;
  const onDone = (record: AdvanceResponse) => {
    toast(`${sentenceCase(record.object)} is now ${spaced(record.status)}`);
    setOpened(null);
  };
  const move = useWrite<AdvanceResponse>(path, { onDone });
  const reachable = machine === undefined ? [] : reachableStates(machine, status);
  const start = (action: string) => {
    move.reset();
    if (fieldsOfAction(resource, action).length > 0 || isIrreversible(resource, action))
      setOpened({ action });
    else void move.write({ action });
  };
  const hasNoActions = allowed.length === 0;
  const action = opened !== null && opened !== 'goal' ? opened.action : null;
  const hasForm = action !== null && fieldsOfAction(resource, action).length > 0;
  return (
    <Card title="Actions" description={actionsDescription(hasNoActions, mayWrite)}>
      {mayWrite && !(hasNoActions && reachable.length === 0) ? (
        <div className="flex flex-wrap gap-2">
          {hasNoActions ? null : (
            <Button
              variant="primary"
              isBusy={move.isBusy}
              icon={<FastForward aria-hidden size={15} />}
              title="Runs the next step of the scenario"
              onClick={() => void move.write({})}
            >
              Next step
            </Button>
          )}
          {allowed.map((one) => (
            <Button key={one} disabled={move.isBusy} onClick={() => start(one)}>
              {sentenceCase(one)}
              {fieldsOfAction(resource, one).length > 0 || isIrreversible(resource, one) ? '…' : ''}
            </Button>
          ))}
          {reachable.length === 0 ? null : (
            <Button
              disabled={move.isBusy}
              icon={<CornerDownRight aria-hidden size={15} />}
              onClick={() => setOpened('goal')}
            >
              Go to state…
            </Button>
          )}
        </div>
      ) : null}
      {move.problem && opened === null ? (
        <div className="mt-4">
          <ProblemBanner problem={move.problem} />
        </div>
      ) : null}
      {action !== null && hasForm ? (
        <ActionDialog
          resource={resource}
          action={action}
          path={
            resource === 'payment' && action === 'refund' ? `app/developer_api_payments/${id}/refund` : path
          }
          money={money}
          hasBeneficiary={hasBeneficiary}
          onDone={onDone}
          onClose={() => setOpened(null)}
        />
      ) : null}
      <ConfirmDialog
        isOpen={action !== null && !hasForm}
        onOpenChange={() => setOpened(null)}
        title={`${sentenceCase(action ?? '')} this ${resource}?`}
        confirmLabel={sentenceCase(action ?? '')}
        isDanger
        isBusy={move.isBusy}
        problem={move.problem}
        onConfirm={() => void move.write({ action })}
      >
        The {resource} is {spaced(status)} now. This cannot be undone.
      </ConfirmDialog>
      {opened === 'goal' ? (
        <TargetStateDialog
          resource={resource}
          states={reachable}
          path={path}
          money={money}
          hasBeneficiary={hasBeneficiary}
          onDone={onDone}
          onClose={() => setOpened(null)}
        />
      ) : null}
    </Card>
  );
}

function actionsDescription(hasNoActions: boolean, mayWrite: boolean): string {
  if (hasNoActions) return 'No actions are allowed in this state.';
  if (!mayWrite) return 'Your role can view this record but not change it.';
  return 'Run the next step of its scenario, run one action, or go directly to a state.';
}
