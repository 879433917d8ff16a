import { useRead } from '../../client/queries.ts';
import type { Customer } from '../../generated/shapes.ts';
import { Anchor } from '../../parts/anchor.tsx';

/** A link to a customer by name, or by id until the name has loaded. */
export function CustomerLink({ id }: { readonly id: string }) {
  const { data } = useRead<Customer>(`app/developer_api_customers/${id}`);
  return (
    <Anchor to={`customers/${id}`} className="break-words text-accent underline-offset-2 hover:underline">
      {data?.name ?? data?.email ?? id}
    </Anchor>
  );
}
