import { Command } from 'cmdk';
import type { ReactNode } from 'react';

/** A heading and its items in the palette or the switcher. */
export function CommandGroup({
  heading,
  children,
}: {
  readonly heading: string;
  readonly children: ReactNode;
}) {
  return (
    <Command.Group
      heading={heading}
      className="[&_[cmdk-group-heading]]:px-2.5 [&_[cmdk-group-heading]]:pt-2 [&_[cmdk-group-heading]]:pb-1 [&_[cmdk-group-heading]]:text-xs [&_[cmdk-group-heading]]:font-medium [&_[cmdk-group-heading]]:text-faint"
    >
      {children}
    </Command.Group>
  );
}

export interface CommandItemProps {
  readonly value: string;
  readonly onSelect: () => void;
  readonly children: ReactNode;
}

export function CommandItem({ value, onSelect, children }: CommandItemProps) {
  return (
    <Command.Item
      value={value}
      onSelect={onSelect}
      className="group flex min-h-9 cursor-pointer items-center gap-2.5 rounded-md px-2.5 py-1.5 data-[selected=true]:bg-hover"
    >
      {children}
    </Command.Item>
  );
}

/** A disabled option, so that a list without matches still has one that screen readers announce. */
export function CommandNote({ children }: { readonly children: ReactNode }) {
  return (
    <Command.Item disabled value="nothing" className="px-3 py-8 text-center text-muted">
      {children}
    </Command.Item>
  );
}
