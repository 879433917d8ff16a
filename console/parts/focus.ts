import { useRef } from 'react';

/**
 * Where the focus was when a dialog opened, for `onCloseAutoFocus`: Radix brings it back to a trigger of its own, and our dialogs
 * have none. What opened it may be gone, as an item of a menu is; then the page's heading takes the focus.
 */
export function useReturnFocus(isOpen: boolean): (event: Event) => void {
  const opener = useRef<Element | null>(null);
  const wasOpen = useRef(false);
  if (isOpen && !wasOpen.current) opener.current = document.activeElement;
  wasOpen.current = isOpen;
  return (event) => {
    event.preventDefault();
    const { current } = opener;
    const isThere = current instanceof HTMLElement && current.isConnected && current !== document.body;
    (isThere ? current : document.querySelector<HTMLElement>('h1'))?.focus();
  };
}
