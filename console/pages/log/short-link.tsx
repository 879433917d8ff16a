import { Anchor, pageOf } from '../../parts/anchor.tsx';

/** An id with its middle cut, for a table of many columns; the whole one is in the title and in the address. */
export function ShortLink({ id }: { readonly id: string }) {
  const to = pageOf(id);
  const shown = id.length > 16 ? `${id.slice(0, 7)}…${id.slice(-6)}` : id;
  if (to === undefined) {
    return (
      <span title={id} className="font-mono text-xs">
        {shown}
      </span>
    );
  }
  return (
    <Anchor to={to} className="font-mono text-xs text-accent underline-offset-2 hover:underline">
      <span title={id}>{shown}</span>
    </Anchor>
  );
}
