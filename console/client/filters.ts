import { useNavigate, useSearch } from '@tanstack/react-router';
import { useMemo } from 'react';
import { mergeFilters, pickFilters, type Search } from './search-params.ts';

export type { Search };

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
  const filters = useMemo(
    () => pickFilters(search, list.split(' ')) as Partial<Record<Name, string>>,
    [search, list],
  );
  const change = (next: Partial<Record<Name, string | undefined>>) =>
    void navigate({ to: '.', search: mergeFilters(search, next), replace: true, resetScroll: false });
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
