/** After a failed submit, focuses the first invalid field of the form, which may be scrolled out of view. */
export function focusInvalidField(form: HTMLFormElement | null): void {
  requestAnimationFrame(() => {
    const field = form?.querySelector<HTMLElement>('[aria-invalid="true"]');
    field?.focus({ preventScroll: true });
    // Centered, so that the error below the field is visible too.
    field?.scrollIntoView({ block: 'center' });
  });
}
