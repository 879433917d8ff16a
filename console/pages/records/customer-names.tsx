import { createContext, type ReactNode, useContext, useMemo } from 'react';
import { useRead } from '../../client/queries.ts';
import type { CustomerNames } from '../../generated/shapes.ts';
import { Anchor } from '../../parts/anchor.tsx';

const NamesContext = createContext<ReadonlyMap<string, string>>(new Map());

/** Reads the names of all customers on a page of records with one request. */
export function CustomerNamesProvider({
  rows,
  children,
}: {
  readonly rows: readonly { readonly customerId?: string | null }[];
  readonly children: ReactNode;
}) {
  const ids = [...new Set(rows.flatMap(({ customerId }) => customerId ?? []))].sort().join(',');
  const { data } = useRead<CustomerNames>(
    'app/customer_names',
    { ids },
    { isEnabled: ids !== '', keepPreviousData: true },
  );
  const names = useMemo(() => new Map((data?.names ?? []).map(({ id, name }) => [id, name])), [data]);
  return <NamesContext value={names}>{children}</NamesContext>;
}

/** A cell with the name of a customer, which links to its page. Its width is fixed: names arrive after the rows, which must not move. */
export function CustomerCell({ id }: { readonly id: string | null }) {
  const names = useContext(NamesContext);
  if (id === null) return <span className="block w-32 text-faint">—</span>;
  const name = names.get(id);
  return (
    <Anchor
      to={`customers/${id}`}
      {...(name === undefined ? {} : { title: name })}
      className="relative z-10 block w-32 truncate hover:text-accent hover:underline"
    >
      {name ?? `${id.slice(0, 8)}…`}
    </Anchor>
  );
}
