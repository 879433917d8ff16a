/** After a refused try the keyboard goes to the first field with a fault, which may be scrolled out of sight. */
export function focusFault(): void {
  requestAnimationFrame(() => {
    const field = document.querySelector<HTMLElement>('[aria-invalid="true"]');
    field?.focus({ preventScroll: true });
    // In the middle, so that the words below the field are seen as well.
    field?.scrollIntoView({ block: 'center' });
  });
}
