import { useRef } from 'react';

/**
 * Restores the focus of the element that opened a dialog, for `onCloseAutoFocus`: Radix restores it to its own trigger, which
 * our dialogs do not have. If the opener is gone, for example a menu item, the page's heading gets the focus.
 */
export function useReturnFocus(isOpen: boolean): (event: Event) => void {
  const opener = useRef<Element | null>(null);
  const wasOpen = useRef(false);
  if (isOpen && !wasOpen.current) opener.current = document.activeElement;
  wasOpen.current = isOpen;
  return (event) => {
    event.preventDefault();
    const { current } = opener;
    const canFocus = current instanceof HTMLElement && current.isConnected && current !== document.body;
    (canFocus ? current : document.querySelector<HTMLElement>('h1'))?.focus();
  };
}
