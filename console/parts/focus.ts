import { useRef } from 'react';

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
