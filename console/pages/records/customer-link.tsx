import { useRead } from '../../client/queries.ts';
import type { Customer } from '../../client/shapes.ts';
import { Anchor } from '../../parts/anchor.tsx';

/** A customer by name, by id until it is known. */
export function CustomerLink({ id }: { readonly id: string }) {
  const { data } = useRead<Customer>(`app/developer_api_customers/${id}`);
  return (
    <Anchor to={`customers/${id}`} className="break-words text-accent underline-offset-2 hover:underline">
      {data?.name ?? data?.email ?? id}
    </Anchor>
  );
}
