import { Check } from 'lucide-react';
import { DropdownMenu } from 'radix-ui';
import { type ReactNode, useRef } from 'react';
import { useFocusSuccessor } from './focus.ts';
import { classes } from './text.ts';

const item =
  'flex min-h-8 items-center gap-2.5 rounded-sm px-2.5 py-1 text-base outline-none select-none data-[disabled]:text-faint data-[highlighted]:bg-hover';

export interface MenuProps {
  /** A Button or IconButton. */
  readonly trigger: ReactNode;
  readonly children: ReactNode;
  readonly align?: 'start' | 'center' | 'end';
}

/** `<Menu trigger={<Button>More</Button>}><MenuItem onSelect={...}>Cancel</MenuItem></Menu>`. */
export function Menu({ trigger, children, align = 'end' }: MenuProps) {
  const button = useRef<HTMLButtonElement>(null);
  useFocusSuccessor(button);
  return (
    <DropdownMenu.Root modal={false}>
      <DropdownMenu.Trigger ref={button} asChild>
        {trigger}
      </DropdownMenu.Trigger>
      <DropdownMenu.Portal>
        <DropdownMenu.Content
          align={align}
          sideOffset={6}
          collisionPadding={8}
          className="pop-in z-50 max-h-(--radix-dropdown-menu-content-available-height) min-w-52 max-w-[min(22rem,calc(100vw-1rem))] overflow-y-auto rounded-lg border bg-raised p-1 shadow-pop"
        >
          {children}
        </DropdownMenu.Content>
      </DropdownMenu.Portal>
    </DropdownMenu.Root>
  );
}

export interface MenuItemProps {
  readonly onSelect: () => void;
  readonly icon?: ReactNode;
  readonly isDanger?: boolean;
  readonly disabled?: boolean;
  readonly children: ReactNode;
}

export function MenuItem({ onSelect, icon, isDanger, disabled = false, children }: MenuItemProps) {
  return (
    <DropdownMenu.Item
      disabled={disabled}
      onSelect={onSelect}
      className={classes(item, isDanger && 'text-bad')}
    >
      {icon}
      {children}
    </DropdownMenu.Item>
  );
}

export interface MenuRadioGroupProps {
  readonly label: string;
  readonly value: string;
  readonly options: readonly { readonly value: string; readonly label: ReactNode }[];
  readonly onChange: (value: string) => void;
}

/** A radio group in a menu. */
export function MenuRadioGroup({ label, value, options, onChange }: MenuRadioGroupProps) {
  return (
    <>
      <MenuLabel>{label}</MenuLabel>
      <DropdownMenu.RadioGroup value={value} onValueChange={onChange} aria-label={label}>
        {options.map((option) => (
          <DropdownMenu.RadioItem key={option.value} value={option.value} className={classes(item, 'pr-2')}>
            <span className="min-w-0 flex-1 truncate">{option.label}</span>
            <DropdownMenu.ItemIndicator>
              <Check aria-hidden size={15} className="text-accent" />
            </DropdownMenu.ItemIndicator>
          </DropdownMenu.RadioItem>
        ))}
      </DropdownMenu.RadioGroup>
    </>
  );
}

export function MenuLabel({ children }: { readonly children: ReactNode }) {
  return (
    <DropdownMenu.Label className="px-2.5 pt-1.5 pb-1 text-xs font-medium text-faint">
      {children}
    </DropdownMenu.Label>
  );
}

export function MenuSeparator() {
  return <DropdownMenu.Separator className="-mx-1 my-1 h-px bg-line" />;
}
