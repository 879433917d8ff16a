import { type RefObject, useLayoutEffect, useRef } from 'react';
import { flushSync } from 'react-dom';

export interface InvalidFocus {
  readonly form: RefObject<HTMLFormElement | null>;
  /** Runs `show`, which makes the fields show their errors, and focuses the first of them. */
  readonly refuse: (show: () => void) => void;
}

/**
 * Moves the focus to the first invalid field of a form after a refused submit: by the page through `refuse`, or by the server,
 * when `isBusy` ends. The errors and the focus appear in one task: if the focus moved a frame later, what a person or a password
 * manager enters meanwhile would reach another field.
 */
export function useInvalidFocus(isBusy: boolean): InvalidFocus {
  const form = useRef<HTMLFormElement>(null);
  const wasBusy = useRef(false);
  useLayoutEffect(() => {
    if (wasBusy.current && !isBusy) focusInvalidField(form.current);
    wasBusy.current = isBusy;
  }, [isBusy]);
  const refuse = (show: () => void) => {
    flushSync(show);
    focusInvalidField(form.current);
  };
  return { form, refuse };
}

function focusInvalidField(form: HTMLFormElement | null): void {
  // Centered, so that the error below the field is visible too.
  const field = form?.querySelector<HTMLElement>('[aria-invalid="true"]');
  field?.focus({ preventScroll: true });
  field?.scrollIntoView({ block: 'center' });
}
