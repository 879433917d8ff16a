import { useSyncExternalStore } from 'react';

/** The time zone in which the console shows times: UTC like the API, or that of the browser. */
export type Zone = 'utc' | 'local';

const storageKey = 'sandbank.zone';
const listeners = new Set<() => void>();
let current = stored();

function stored(): Zone {
  try {
    return localStorage.getItem(storageKey) === 'local' ? 'local' : 'utc';
  } catch {
    return 'utc';
  }
}

export function zone(): Zone {
  return current;
}

export function setZone(next: Zone): void {
  current = next;
  try {
    localStorage.setItem(storageKey, next);
  } catch {
    // Without storage, the choice lasts until the page is closed.
  }
  for (const listener of listeners) listener();
}

export function useZone(): Zone {
  return useSyncExternalStore((onChange) => {
    listeners.add(onChange);
    return () => listeners.delete(onChange);
  }, zone);
}

/** 'Europe/Berlin', as the browser names it. */
export const localZoneName = new Intl.DateTimeFormat().resolvedOptions().timeZone;

/** The name of the shown zone, for the labels of fields with a day or a time. */
export function zoneName(): string {
  return current === 'utc' ? 'UTC' : localZoneName;
}
