import { Anchor, pageOf } from '../../parts/anchor.tsx';

/** An abbreviated id for tables with many columns; the title and the link contain the full id. */
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
