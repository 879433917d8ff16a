import { useSyncExternalStore } from 'react';
import { type Language, languages } from './languages.ts';

const storageKey = 'sandbank.language';
const listeners = new Set<() => void>();
let current = stored();

function stored(): Language {
  try {
    const name = localStorage.getItem(storageKey);
    return languages.find(({ value }) => value === name)?.value ?? 'curl';
  } catch {
    return 'curl';
  }
}

/** The person's language for code samples, the same on all pages. */
export function useLanguage(): Language {
  return useSyncExternalStore(
    (onChange) => {
      listeners.add(onChange);
      return () => listeners.delete(onChange);
    },
    () => current,
  );
}

export function setLanguage(next: Language): void {
  current = next;
  try {
    localStorage.setItem(storageKey, next);
  } catch {
    // Without storage, the choice lasts until the page is closed.
  }
  for (const listener of listeners) listener();
}
