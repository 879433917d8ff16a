/** A record page that the person has visited. */
export interface Recent {
  readonly id: string;
  readonly title: string;
}

const recentMax = 8;
const storageKey = (orgId: string) => `sandbank.recent.${orgId}`;

/** The visited records of an organization, newest first. */
export function recentRecords(orgId: string): readonly Recent[] {
  try {
    const stored: unknown = JSON.parse(localStorage.getItem(storageKey(orgId)) ?? '[]');
    return Array.isArray(stored) ? stored.filter(isRecent).slice(0, recentMax) : [];
  } catch {
    return [];
  }
}

export function rememberRecord(orgId: string, visited: Recent): void {
  const others = recentRecords(orgId).filter(({ id }) => id !== visited.id);
  try {
    localStorage.setItem(storageKey(orgId), JSON.stringify([visited, ...others].slice(0, recentMax)));
  } catch {
    // Without storage, the palette shows no recent records.
  }
}

function isRecent(value: unknown): value is Recent {
  const { id, title } = (value ?? {}) as Partial<Recent>;
  return typeof id === 'string' && typeof title === 'string';
}
