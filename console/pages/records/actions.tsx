import { CornerDownRight, FastForward } from 'lucide-react';
import { useState } from 'react';
import { useWrite } from '../../client/queries.ts';
import type { Path } from '../../client/request.ts';
import { useAllowed } from '../../frame/session.tsx';
import { Button } from '../../parts/button.tsx';
import { Card } from '../../parts/card.tsx';
import { ConfirmDialog } from '../../parts/dialog.tsx';
import { ProblemBanner } from '../../parts/problem.tsx';
import { useToast } from '../../parts/toast.tsx';
import { sentence } from '../../parts/words.ts';
import { ActionDialog } from './action-dialog.tsx';
import { fieldsOfAction, isEnding, type Resource } from './action-fields.ts';
import type { Money } from './action-form.tsx';
import { plain, useMachine } from './diagram.tsx';
import { GoalDialog } from './goal-dialog.tsx';
import { statesAhead } from './machine.ts';

export interface ActionsProps {
  readonly resource: Resource;
  readonly id: string;
  readonly status: string;
  readonly allowed: readonly string[];
  readonly money: Money;
  readonly hasBeneficiary?: boolean;
}

interface Moved {
  readonly object: string;
  readonly status: string;
}

/** What is open: nothing, a form for one action, or the choice of a state. */
type Opened = { readonly action: string } | 'goal' | null;

/** What can be done with a record now. Actions without fields happen at once; what ends a record asks first. */
export function Actions({ resource, id, status, allowed, money, hasBeneficiary = false }: ActionsProps) {
  const { toast } = useToast();
  const mayWrite = useAllowed('developer');
  const { machine } = useMachine(resource);
  const [opened, setOpened] = useState<Opened>(null);
  const path: Path = `app/developer_api_${resource}s/${id}/advance`;
  const onDone = (answer: Moved) => {
    toast(`${sentence(answer.object)} is now ${plain(answer.status)}`);
    setOpened(null);
  };
  const move = useWrite<Moved>(path, { onDone });
  const ahead = machine === undefined ? [] : statesAhead(machine, status);
  const start = (action: string) => {
    move.reset();
    if (fieldsOfAction(resource, action).length > 0 || isEnding(resource, action)) setOpened({ action });
    else void move.write({ action });
  };
  const isAtEnd = allowed.length === 0;
  const action = opened !== null && opened !== 'goal' ? opened.action : null;
  const hasForm = action !== null && fieldsOfAction(resource, action).length > 0;
  return (
    <Card title="Actions" description={descriptionWords(isAtEnd, mayWrite)}>
      {mayWrite && !(isAtEnd && ahead.length === 0) ? (
        <div className="flex flex-wrap gap-2">
          {isAtEnd ? null : (
            <Button
              look="primary"
              isBusy={move.isBusy}
              icon={<FastForward aria-hidden size={15} />}
              title="Plays the next step of the scenario"
              onClick={() => void move.write({})}
            >
              Next step
            </Button>
          )}
          {allowed.map((one) => (
            <Button key={one} disabled={move.isBusy} onClick={() => start(one)}>
              {sentence(one)}
              {fieldsOfAction(resource, one).length > 0 || isEnding(resource, one) ? '…' : ''}
            </Button>
          ))}
          {ahead.length === 0 ? null : (
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
        title={`${sentence(action ?? '')} this ${resource}?`}
        confirmLabel={sentence(action ?? '')}
        isDanger
        isBusy={move.isBusy}
        problem={move.problem}
        onConfirm={() => void move.write({ action })}
      >
        The {resource} is {plain(status)} now. This cannot be taken back.
      </ConfirmDialog>
      {opened === 'goal' ? (
        <GoalDialog
          resource={resource}
          states={ahead}
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

function descriptionWords(isAtEnd: boolean, mayWrite: boolean): string {
  if (isAtEnd) return 'It has come to its end: nothing more can be asked of it.';
  if (!mayWrite) return 'Your role may look at it but not move it.';
  return 'Play what its scenario does next, take one action yourself, or go straight to a state.';
}
