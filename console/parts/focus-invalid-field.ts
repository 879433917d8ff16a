/** After a failed submit, focuses the first invalid field, which may be scrolled out of view. */
export function focusInvalidField(): void {
  requestAnimationFrame(() => {
    const field = document.querySelector<HTMLElement>('[aria-invalid="true"]');
    field?.focus({ preventScroll: true });
    // Centered, so that the error below the field is visible too.
    field?.scrollIntoView({ block: 'center' });
  });
}
