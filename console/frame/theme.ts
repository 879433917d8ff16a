import { useSyncExternalStore } from 'react';

/** Imported first by main.tsx, so that the page never renders in the wrong theme. The choice is in local storage. */
export type ThemeChoice = 'system' | 'light' | 'dark';

const storageKey = 'sandbank.theme';
const prefersDark = matchMedia('(prefers-color-scheme: dark)');
const listeners = new Set<() => void>();

function readChoice(): ThemeChoice {
  try {
    const saved = localStorage.getItem(storageKey);
    return saved === 'light' || saved === 'dark' ? saved : 'system';
  } catch {
    return 'system';
  }
}

let choice = readChoice();

function apply(): void {
  const isDark = choice === 'dark' || (choice === 'system' && prefersDark.matches);
  document.documentElement.dataset.theme = isDark ? 'dark' : 'light';
  for (const listener of listeners) listener();
}

apply();
prefersDark.addEventListener('change', apply);

export function setTheme(next: ThemeChoice): void {
  choice = next;
  try {
    localStorage.setItem(storageKey, next);
  } catch {
    // Without storage, the theme applies to this visit only.
  }
  apply();
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

export function useTheme(): ThemeChoice {
  return useSyncExternalStore(subscribe, () => choice);
}
