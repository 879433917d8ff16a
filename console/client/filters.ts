import { useNavigate, useSearch } from '@tanstack/react-router';
import { useMemo } from 'react';
import { useScope } from './scope.ts';
import { mergeFilters, pickFilters, type Search } from './search-params.ts';

/**
 * Filters live in the URL: `const [filters, setFilters] = useFilters('status', 'customerId')`. Setting a filter returns to
 * the first page; an empty string removes the filter. Pass `filters` to useList unchanged.
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

/** A dialog that the URL opens: `?create=1` from the palette or a link. */
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

/** Opens the page of a record that a dialog created. The dialog leaves the history first: Back shows the list, not the form. */
export function useOpenCreated(): (page: string) => Promise<void> {
  const search: Search = useSearch({ strict: false });
  const navigate = useNavigate();
  const { orgId } = useScope();
  return async (page) => {
    if (search.create !== undefined)
      await navigate({
        to: '.',
        search: { ...search, create: undefined, like: undefined },
        replace: true,
        resetScroll: false,
      });
    await navigate({ to: `/${orgId}/${page}` });
  };
}
