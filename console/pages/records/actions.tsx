import { ChevronDown, Code, CornerDownRight, FastForward } from 'lucide-react';
import { type ReactNode, useState } from 'react';
import { useCapabilities } from '../../client/capabilities.ts';
import { usePageCommands } from '../../client/page-commands.ts';
import { useWrite } from '../../client/queries.ts';
import type { Path } from '../../client/request.ts';
import { CodeDialog } from '../../code/code-button.tsx';
import type { NamedRequest } from '../../code/requests-dialog.tsx';
import { useAllowed } from '../../frame/session.tsx';
import type { StateMachine } from '../../generated/shapes.ts';
import { Button } from '../../parts/button.tsx';
import { ConfirmDialog } from '../../parts/dialog.tsx';
import { Menu, MenuItem, MenuSeparator } from '../../parts/menu.tsx';
import { sentenceCase } from '../../parts/text.ts';
import { useToast } from '../../parts/toast.tsx';
import { ActionDialog } from './action-dialog.tsx';
import { fieldsOfAction, isIrreversible, type Resource } from './action-draft.ts';
import type { ActionMoney } from './action-form.tsx';
import { spaced, useMachine } from './diagram.tsx';
import { reachableStates } from './machine.ts';
import { useReportProblem } from './record-page.tsx';
import { nextStepLabel } from './record-requests.ts';
import { TargetStateDialog } from './target-state-dialog.tsx';

export interface ActionsProps {
  readonly resource: Resource;
  readonly id: string;
  readonly status: string;
  readonly allowed: readonly string[];
  /** What the scenario does next; null if nothing, undefined while it is unknown. */
  readonly next: string | null | undefined;
  readonly money: ActionMoney;
  readonly hasBeneficiary?: boolean;
  /** The code of the actions. */
  readonly requests: readonly NamedRequest[];
  /** Menu items besides the actions. */
  readonly more?: ReactNode;
}

interface AdvanceResponse {
  readonly object: string;
  readonly status: string;
}

/** The open dialog: none, a form for one action, the target state dialog, or the code. */
type Opened = { readonly action: string } | 'goal' | 'code' | null;

/** The next step of the record as a button, and its other actions in a menu. Irreversible actions ask for confirmation. */
export function Actions(props: ActionsProps) {
  const { resource, id, status, allowed, next, money, hasBeneficiary = false, requests, more } = props;
  const path: Path = `app/developer_api_${resource}s/${id}/advance`;
  const { toast } = useToast();
  const mayWrite = useAllowed('developer');
  const { machine } = useMachine(resource);
  const rules = useCapabilities()?.resources;
  const [opened, setOpened] = useState<Opened>(null);
  const onDone = (record: AdvanceResponse) => {
    toast(`${sentenceCase(record.object)} ${spaced(record.status)}`);
    setOpened(null);
  };
  const move = useWrite<AdvanceResponse>(path, { onDone });
  useReportProblem(opened === null ? move.problem : null);
  const reachable = machine === undefined ? [] : reachableStates(machine, status);
  const hasFields = (action: string) => fieldsOfAction(rules ?? [], resource, action).length > 0;
  const asks = (action: string) => hasFields(action) || isIrreversible(machine, action);
  const start = (action: string) => {
    move.reset();
    if (asks(action)) setOpened({ action });
    else void move.write({ action });
  };
  const canGo = reachable.length > 0;
  const runNext = () => void move.write({});
  const offer = { resource, next, allowed, asks, canGo, start, runNext, goTo: () => setOpened('goal') };
  const isKnown = rules !== undefined && machine !== undefined;
  useActionCommands(mayWrite && isKnown ? offer : null);
  if (!mayWrite)
    return <span className="text-sm text-muted">Your role can view this record but not change it.</span>;
  if (allowed.length === 0 && !canGo && more === undefined) return null;
  const action = typeof opened === 'object' ? (opened?.action ?? null) : null;
  const hasForm = action !== null && hasFields(action);
  const isRefund = resource === 'payment' && action === 'refund';
  const form = { resource, money, hasBeneficiary, onDone, onClose: () => setOpened(null) };
  return (
    <>
      {allowed.length === 0 || next === null ? null : (
        <NextButton next={next} isBusy={move.isBusy} onClick={runNext} />
      )}
      <ActionMenu
        {...{ machine, allowed, asks, canGo, more }}
        isDisabled={move.isBusy || !isKnown}
        onAction={start}
        onOpen={setOpened}
      />
      {action !== null && hasForm ? (
        <ActionDialog
          {...form}
          action={action}
          path={isRefund ? `app/developer_api_payments/${id}/refund` : path}
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
        code={move.request({ action })}
      >
        The {resource} is {spaced(status)} now. This cannot be undone.
      </ConfirmDialog>
      {opened === 'code' ? (
        <CodeDialog
          title={sentenceCase(resource)}
          requests={requests}
          first={nextStepLabel}
          onClose={() => setOpened(null)}
        />
      ) : null}
      {opened === 'goal' ? <TargetStateDialog {...form} states={reachable} path={path} /> : null}
    </>
  );
}

interface ActionCommands {
  readonly resource: Resource;
  readonly next: string | null | undefined;
  readonly allowed: readonly string[];
  readonly asks: (action: string) => boolean;
  readonly canGo: boolean;
  readonly start: (action: string) => void;
  readonly runNext: () => void;
  readonly goTo: () => void;
}

/** The palette offers what the button and the menu do; null for viewers. */
function useActionCommands(offer: ActionCommands | null): void {
  const {
    resource,
    next,
    allowed = [],
    asks,
    canGo,
    start,
    runNext,
    goTo,
  }: Partial<ActionCommands> = offer ?? {};
  usePageCommands([
    ...(next && runNext && allowed.length > 0
      ? [{ label: `Next step: ${sentenceCase(next)}`, run: runNext }]
      : []),
    ...allowed.map((one) => ({
      label: `${sentenceCase(one)} ${resource}${asks?.(one) ? '…' : ''}`,
      run: () => start?.(one),
    })),
    ...(canGo && goTo ? [{ label: 'Go to state…', run: goTo }] : []),
  ]);
}

interface ActionMenuProps {
  readonly machine: StateMachine | undefined;
  readonly allowed: readonly string[];
  readonly isDisabled: boolean;
  /** Whether an action opens a dialog. */
  readonly asks: (action: string) => boolean;
  readonly canGo: boolean;
  readonly onAction: (action: string) => void;
  readonly onOpen: (dialog: 'goal' | 'code') => void;
  readonly more: ReactNode;
}

function ActionMenu(props: ActionMenuProps) {
  const { machine, allowed, isDisabled, asks, canGo, onAction, onOpen, more } = props;
  return (
    <Menu
      trigger={
        <Button>
          Actions
          <ChevronDown aria-hidden size={15} />
        </Button>
      }
    >
      {allowed.map((one) => (
        <MenuItem
          key={one}
          disabled={isDisabled}
          isDanger={isIrreversible(machine, one)}
          onSelect={() => onAction(one)}
        >
          {sentenceCase(one)}
          {asks(one) ? '…' : ''}
        </MenuItem>
      ))}
      {allowed.length > 0 && canGo ? <MenuSeparator /> : null}
      {canGo ? (
        <MenuItem
          disabled={isDisabled}
          icon={<CornerDownRight aria-hidden size={15} />}
          onSelect={() => onOpen('goal')}
        >
          Go to state…
        </MenuItem>
      ) : null}
      {allowed.length > 0 || canGo ? <MenuSeparator /> : null}
      {more}
      <MenuItem icon={<Code aria-hidden size={15} />} onSelect={() => onOpen('code')}>
        Code…
      </MenuItem>
    </Menu>
  );
}

interface NextButtonProps {
  readonly next: string | undefined;
  readonly isBusy: boolean;
  readonly onClick: () => void;
}

function NextButton({ next, isBusy, onClick }: NextButtonProps) {
  return (
    <Button
      variant="primary"
      isBusy={isBusy}
      icon={<FastForward aria-hidden size={15} />}
      title="Runs the next step of the scenario"
      onClick={onClick}
    >
      {next === undefined ? 'Next step' : `Next: ${sentenceCase(next)}`}
    </Button>
  );
}
