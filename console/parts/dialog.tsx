import { X } from 'lucide-react';
import { AlertDialog, Dialog as RadixDialog } from 'radix-ui';
import { type ReactNode, useId } from 'react';
import type { ApiProblem, ApiRequest } from '../client/request.ts';
import { Button, IconButton } from './button.tsx';
import { useCodeToggle } from './code-toggle.tsx';
import { useReturnFocus } from './focus.ts';
import { Form } from './form.tsx';
import { FormProblem, useProblemOutsideFields } from './form-problem.tsx';
import { ProblemBanner } from './problem.tsx';
import { classes } from './text.ts';

const shade = 'shade-in fixed inset-0 z-50 bg-shade';
const sheet =
  'pop-in fixed z-50 flex flex-col border bg-raised shadow-pop inset-x-0 bottom-0 max-h-[92dvh] rounded-t-lg sm:inset-auto sm:top-[10vh] sm:left-1/2 sm:max-h-[80vh] sm:-translate-x-1/2 sm:rounded-lg';

export interface DialogProps {
  readonly isOpen: boolean;
  readonly onOpenChange: (isOpen: boolean) => void;
  readonly title: string;
  readonly description?: ReactNode;
  readonly size?: 'small' | 'medium' | 'large' | 'wide';
  /** Makes the content a form with a Cancel and a submit button in the footer. */
  readonly onSubmit?: () => void;
  readonly submitLabel?: string;
  readonly isBusy?: boolean;
  /** The form's action cannot be undone. */
  readonly isDanger?: boolean;
  /** Why the server has refused the form: shown by the field that it refers to, or else above the footer. */
  readonly problem?: ApiProblem | null;
  /** The request that the form sends, shown as code: `code={write.request(body)}`. */
  readonly code?: ApiRequest | null | undefined;
  /** Above the code: how it differs from what the form does. */
  readonly codeNote?: string | undefined;
  /** Replaces the form's footer. Its submit button names `formId` in `form`. */
  readonly footer?: ReactNode;
  readonly formId?: string;
  readonly children: ReactNode;
}

const widths = {
  small: 'sm:w-[26rem]',
  medium: 'sm:w-[34rem]',
  large: 'sm:w-[48rem]',
  wide: 'sm:w-[min(80rem,94vw)]',
};

/** Focuses the first field of a form instead of the close button. */
function focusFirstField(event: Event): void {
  const form = (event.currentTarget as HTMLElement).querySelector('form');
  const field = form?.querySelector<HTMLInputElement>(':is(input, select, textarea):not(:disabled)');
  if (!field) return;
  event.preventDefault();
  // In a radio group, focus the selected option.
  const chosen =
    field.type === 'radio' ? form?.querySelector<HTMLElement>('input[type=radio]:checked') : null;
  (chosen ?? field).focus();
}

/** A dialog; a bottom sheet on phones. The focus moves in, stays in, and returns to the opener. */
export function Dialog(props: DialogProps) {
  const {
    isOpen,
    onOpenChange,
    title,
    description,
    size = 'medium',
    onSubmit,
    problem = null,
    footer,
    children,
  } = props;
  const ownFormId = useId();
  const formId = props.formId ?? ownFormId;
  const returnFocus = useReturnFocus(isOpen);
  const code = useCodeToggle(props.code, title, props.codeNote);
  return (
    <FormProblem problem={problem}>
      <RadixDialog.Root open={isOpen} onOpenChange={onOpenChange}>
        <RadixDialog.Portal>
          <RadixDialog.Overlay className={shade} />
          <RadixDialog.Content
            className={classes(sheet, widths[size])}
            onOpenAutoFocus={focusFirstField}
            onCloseAutoFocus={returnFocus}
            {...(description === undefined ? { 'aria-describedby': undefined } : {})}
          >
            <Heading title={title} description={description} />
            <div className="min-h-0 flex-1 overflow-y-auto px-5 pt-1 pb-5 [--sticky-top:0px]">
              {onSubmit ? (
                <Form
                  id={formId}
                  onSubmit={onSubmit}
                  isBusy={props.isBusy ?? false}
                  className="flex flex-col gap-4"
                >
                  {children}
                </Form>
              ) : (
                <div className="flex flex-col gap-4">{children}</div>
              )}
            </div>
            <ProblemOutsideFields />
            {code.panel ? <div className="shrink-0 border-t px-5 py-3">{code.panel}</div> : null}
            {onSubmit || footer ? (
              <div className="flex flex-wrap justify-end gap-2 border-t px-5 py-3">
                {code.button ? <span className="mr-auto">{code.button}</span> : null}
                {footer ?? (
                  <>
                    <Button onClick={() => onOpenChange(false)}>Cancel</Button>
                    <Button
                      type="submit"
                      form={formId}
                      variant={props.isDanger ? 'danger' : 'primary'}
                      isBusy={props.isBusy ?? false}
                    >
                      {props.submitLabel ?? 'Save'}
                    </Button>
                  </>
                )}
              </div>
            ) : null}
          </RadixDialog.Content>
        </RadixDialog.Portal>
      </RadixDialog.Root>
    </FormProblem>
  );
}

function Heading({ title, description }: Pick<DialogProps, 'title' | 'description'>) {
  return (
    <div className="flex items-start justify-between gap-4 px-5 pt-4 pb-3">
      <div>
        <RadixDialog.Title className="text-lg font-semibold">{title}</RadixDialog.Title>
        {description === undefined ? null : (
          <RadixDialog.Description className="mt-0.5 text-sm text-muted">
            {description}
          </RadixDialog.Description>
        )}
      </div>
      <RadixDialog.Close asChild>
        <IconButton label="Close" icon={<X aria-hidden size={17} />} size="small" />
      </RadixDialog.Close>
    </div>
  );
}

function ProblemOutsideFields() {
  return <PinnedProblem problem={useProblemOutsideFields()} />;
}

/** Above the footer and outside of what scrolls: a long form does not hide it. */
function PinnedProblem({ problem }: { readonly problem: ApiProblem | null | undefined }) {
  if (!problem) return null;
  return (
    <div className="max-h-[40%] shrink-0 overflow-y-auto px-5 pb-3">
      <ProblemBanner problem={problem} />
    </div>
  );
}

export interface ConfirmDialogProps {
  readonly isOpen: boolean;
  readonly onOpenChange: (isOpen: boolean) => void;
  readonly title: string;
  /** What will happen, and what cannot be undone. */
  readonly children: ReactNode;
  readonly confirmLabel: string;
  readonly onConfirm: () => void;
  readonly isDanger?: boolean;
  readonly isBusy?: boolean;
  readonly problem?: ApiProblem | null;
  readonly code?: ApiRequest | null | undefined;
}

/** Asks for confirmation before an irreversible action. The page closes it when the write has succeeded. */
export function ConfirmDialog(props: ConfirmDialogProps) {
  const returnFocus = useReturnFocus(props.isOpen);
  const code = useCodeToggle(props.code, props.title);
  return (
    <AlertDialog.Root open={props.isOpen} onOpenChange={props.onOpenChange}>
      <AlertDialog.Portal>
        <AlertDialog.Overlay className={shade} />
        <AlertDialog.Content className={classes(sheet, widths.small)} onCloseAutoFocus={returnFocus}>
          <div className="flex min-h-0 flex-col gap-3 overflow-y-auto px-5 pt-4 pb-5">
            <AlertDialog.Title className="text-lg font-semibold">{props.title}</AlertDialog.Title>
            <AlertDialog.Description asChild>
              <div className="text-base text-muted">{props.children}</div>
            </AlertDialog.Description>
          </div>
          <PinnedProblem problem={props.problem} />
          {code.panel ? <div className="shrink-0 border-t px-5 py-3">{code.panel}</div> : null}
          <div className="flex justify-end gap-2 border-t px-5 py-3">
            {code.button ? <span className="mr-auto">{code.button}</span> : null}
            <AlertDialog.Cancel asChild>
              <Button>Cancel</Button>
            </AlertDialog.Cancel>
            <Button
              variant={props.isDanger ? 'danger' : 'primary'}
              isBusy={props.isBusy ?? false}
              onClick={props.onConfirm}
            >
              {props.confirmLabel}
            </Button>
          </div>
        </AlertDialog.Content>
      </AlertDialog.Portal>
    </AlertDialog.Root>
  );
}
