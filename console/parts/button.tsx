import { LoaderCircle } from 'lucide-react';
import type { ButtonHTMLAttributes, ReactNode, Ref } from 'react';
import { classes } from './text.ts';

type ButtonVariant = 'primary' | 'plain' | 'ghost' | 'danger';

export interface ButtonProps extends ButtonHTMLAttributes<HTMLButtonElement> {
  readonly variant?: ButtonVariant;
  readonly size?: 'small' | 'medium';
  /** Shows a spinner and ignores clicks. */
  readonly isBusy?: boolean;
  /** Ignores clicks but can hold the focus, unlike `disabled`: for buttons that become available again, such as a pager's. */
  readonly isInert?: boolean;
  readonly icon?: ReactNode;
  readonly ref?: Ref<HTMLButtonElement>;
}

const variantClasses: Readonly<Record<ButtonVariant, string>> = {
  primary: 'border-transparent bg-accent text-on-accent hover:bg-accent-hover',
  plain: 'border-line-strong/60 bg-surface text-ink hover:bg-hover hover:border-line-strong',
  ghost: 'border-transparent text-muted hover:bg-hover hover:text-ink',
  danger: 'border-transparent bg-bad-solid text-white hover:brightness-90',
};

/** The same styles for a link: `<Anchor className={buttonClass('primary')} ...>`. */
export function buttonClass(variant: ButtonVariant = 'plain', size: 'small' | 'medium' = 'medium'): string {
  return classes(
    'inline-flex shrink-0 items-center justify-center gap-1.5 rounded-md border font-medium whitespace-nowrap transition-colors',
    'disabled:cursor-not-allowed disabled:text-faint disabled:hover:brightness-100',
    'aria-disabled:cursor-not-allowed aria-disabled:text-faint aria-disabled:hover:brightness-100',
    variant === 'ghost'
      ? 'disabled:bg-transparent aria-disabled:bg-transparent'
      : 'disabled:border-line disabled:bg-sunken aria-disabled:border-line aria-disabled:bg-sunken',
    size === 'small' ? 'h-7 px-2.5 text-sm' : 'h-[2.125rem] px-3 text-base',
    variantClasses[variant],
  );
}

export function Button(props: ButtonProps) {
  const {
    variant = 'plain',
    size = 'medium',
    isBusy = false,
    isInert = false,
    icon,
    children,
    className,
    ...rest
  } = props;
  const ignoresClicks = isBusy || isInert;
  return (
    <button
      type="button"
      {...rest}
      // Not `disabled`, which would drop the keyboard focus while a form is being submitted.
      {...(ignoresClicks ? { onClick: (event) => event.preventDefault(), 'aria-disabled': true } : {})}
      aria-busy={isBusy || undefined}
      className={classes(buttonClass(variant, size), className)}
    >
      {isBusy ? <LoaderCircle aria-hidden size={15} className="animate-spin" /> : icon}
      {children}
    </button>
  );
}

export interface IconButtonProps extends Omit<ButtonHTMLAttributes<HTMLButtonElement>, 'children'> {
  /** For screen readers and the tooltip. */
  readonly label: string;
  readonly icon: ReactNode;
  readonly size?: 'small' | 'medium';
  readonly ref?: Ref<HTMLButtonElement>;
}

export function IconButton({ label, icon, size = 'medium', className, ...rest }: IconButtonProps) {
  return (
    <button
      type="button"
      aria-label={label}
      title={label}
      {...rest}
      className={classes(
        'inline-flex shrink-0 items-center justify-center rounded-md text-muted transition-colors hover:bg-hover hover:text-ink disabled:text-faint disabled:hover:bg-transparent',
        size === 'small' ? 'size-6' : 'size-[2.125rem]',
        className,
      )}
    >
      {icon}
    </button>
  );
}
