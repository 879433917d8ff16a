import { Popover as RadixPopover } from 'radix-ui';
import type { ReactNode } from 'react';

export interface PopoverProps {
  /** A Button or IconButton. */
  readonly trigger: ReactNode;
  /** For screen readers. */
  readonly label: string;
  readonly children: ReactNode;
  readonly isOpen?: boolean;
  readonly onOpenChange?: (isOpen: boolean) => void;
  readonly align?: 'start' | 'center' | 'end';
}

export function Popover({ trigger, label, children, isOpen, onOpenChange, align = 'end' }: PopoverProps) {
  return (
    <RadixPopover.Root
      {...(isOpen === undefined ? {} : { open: isOpen })}
      {...(onOpenChange ? { onOpenChange } : {})}
    >
      <RadixPopover.Trigger asChild>{trigger}</RadixPopover.Trigger>
      <RadixPopover.Portal>
        <RadixPopover.Content
          aria-label={label}
          align={align}
          sideOffset={6}
          collisionPadding={8}
          className="pop-in z-50 max-h-(--radix-popover-content-available-height) w-[min(24rem,calc(100vw-1rem))] overflow-y-auto rounded-lg border bg-raised p-4 shadow-pop outline-none"
        >
          {children}
        </RadixPopover.Content>
      </RadixPopover.Portal>
    </RadixPopover.Root>
  );
}
