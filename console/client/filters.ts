import { useNavigate, useSearch } from '@tanstack/react-router';
import { useMemo } from 'react';

export type Search = Readonly<Record<string, string | undefined>>;

/**
 * Filters live in the URL: `const [filters, setFilters] = useFilters('status', 'customerId')`. Setting one goes back to
 * the first page; an empty text takes the filter away. `filters` can be given to useList as it is.
 */
export function useFilters<Name extends string>(
  ...names: Name[]
): [Readonly<Partial<Record<Name, string>>>, (change: Partial<Record<Name, string | undefined>>) => void] {
  const search: Search = useSearch({ strict: false });
  const navigate = useNavigate();
  const list = names.join(' ');
  const filters = useMemo(() => {
    const found: Record<string, string> = {};
    for (const name of list.split(' ')) {
      const value = search[name];
      if (value !== undefined && value !== '') found[name] = value;
    }
    return found as Partial<Record<Name, string>>;
  }, [search, list]);
  const change = (next: Partial<Record<Name, string | undefined>>) => {
    const merged: Record<string, string | undefined> = { ...search, ...next, cursor: undefined };
    for (const [name, value] of Object.entries(merged)) if (value === '') merged[name] = undefined;
    void navigate({ to: '.', search: merged, replace: true, resetScroll: false });
  };
  return [filters, change];
}

/** A dialog that the URL can open: `?create=1` from the palette or a link. */
export function useOpenParam(name: string): [boolean, (isOpen: boolean) => void] {
  const search: Search = useSearch({ strict: false });
  const navigate = useNavigate();
  const change = (isOpen: boolean) =>
    void navigate({
      to: '.',
      search: { ...search, [name]: isOpen ? '1' : undefined },
      replace: true,
      resetScroll: false,
    });
  return [search[name] === '1', change];
}
