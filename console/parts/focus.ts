import { type RefObject, useLayoutEffect, useRef } from 'react';

/**
 * Restores the focus of the element that opened a dialog, for `onCloseAutoFocus`: Radix restores it to its own trigger, which
 * our dialogs do not have. A menu item that opened a dialog is gone by then: the button of its menu gets the focus. If the opener
 * is gone otherwise, the page's heading gets it.
 */
export function useReturnFocus(isOpen: boolean): (event: Event) => void {
  const opener = useRef<Element | null>(null);
  const wasOpen = useRef(false);
  if (isOpen && !wasOpen.current) opener.current = openerOf(document.activeElement);
  wasOpen.current = isOpen;
  return (event) => {
    event.preventDefault();
    const { current } = opener;
    const canFocus = current instanceof HTMLElement && current.isConnected && current !== document.body;
    (canFocus ? current : document.querySelector<HTMLElement>('h1'))?.focus();
  };
}

function openerOf(active: Element | null): Element | null {
  const trigger = active?.closest('[role=menu]')?.getAttribute('aria-labelledby');
  return trigger ? document.getElementById(trigger) : active;
}

/**
 * When the button of a menu disappears while it has the focus, because its action or a live update removed it, the menu of the
 * nearest row gets the focus, or else the page's heading.
 */
export function useFocusSuccessor(trigger: RefObject<HTMLElement | null>): void {
  useLayoutEffect(() => {
    const { current } = trigger;
    // React removes the element after this.
    return () => {
      if (current !== null && current === document.activeElement) successorOf(current)?.focus();
    };
  }, [trigger]);
}

function successorOf(trigger: HTMLElement): HTMLElement | null {
  const row = trigger.closest('tr, li');
  const rows = [...(row?.parentElement?.children ?? [])];
  const index = row === null ? -1 : rows.indexOf(row);
  const others = [...rows.slice(index + 1), ...rows.slice(0, Math.max(index, 0)).reverse()];
  const menus = others.flatMap((one) => one.querySelector<HTMLElement>('[aria-haspopup=menu]') ?? []);
  return menus[0] ?? document.querySelector<HTMLElement>('h1');
}
