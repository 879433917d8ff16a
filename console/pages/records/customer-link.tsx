import { useRead } from '../../client/queries.ts';
import type { Customer } from '../../generated/shapes.ts';
import { Anchor } from '../../parts/anchor.tsx';

/** A link to a customer by name, or by id until the name has loaded. */
export function CustomerLink({ id }: { readonly id: string }) {
  const { data } = useRead<Customer>(`app/developer_api_customers/${id}`);
  return (
    <Anchor
      to={`customers/${id}`}
      // At most as wide as an id, so that the name does not move what follows it.
      className="inline-block max-w-56 truncate align-bottom text-accent underline-offset-2 hover:underline"
    >
      {data?.name ?? data?.email ?? id}
    </Anchor>
  );
}
