import { useRead } from '../../client/queries.ts';
import type { Customer } from '../../generated/shapes.ts';
import { Anchor } from '../../parts/anchor.tsx';

/** A link to a customer by name, or by id until the name has loaded. Its width does not depend on the name, so nothing moves then. */
export function CustomerLink({ id }: { readonly id: string }) {
  const { data } = useRead<Customer>(`app/developer_api_customers/${id}`);
  const name = data?.name ?? data?.email ?? id;
  return (
    <Anchor
      to={`customers/${id}`}
      title={name}
      className="inline-block w-44 max-w-full truncate align-bottom text-accent underline-offset-2 hover:underline"
    >
      {name}
    </Anchor>
  );
}
