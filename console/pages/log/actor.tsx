import { Bot, KeyRound, UserRound } from 'lucide-react';
import type { Actor } from '../../generated/shapes.ts';

const kinds = {
  api_key: { icon: KeyRound, label: 'API key' },
  person: { icon: UserRound, label: 'Person' },
  system: { icon: Bot, label: 'Sandbank' },
} as const;

export function actorKindLabel({ kind }: Pick<Actor, 'kind'>): string {
  return kinds[kind].label;
}

export function actorLabel({ kind, id, name }: Actor): string {
  return name ?? id ?? kinds[kind].label;
}

/** The actor's name; the icon shows whether it is a key, a person or the server. */
export function ActorName({ actor }: { readonly actor: Actor }) {
  const { icon: Icon, label } = kinds[actor.kind];
  return (
    <span className="inline-flex max-w-full items-center gap-1.5 align-middle" title={actor.id ?? undefined}>
      <Icon aria-hidden size={14} className="shrink-0 text-faint" />
      <span className="sr-only">{label} </span>
      <span className="max-w-52 truncate">{actorLabel(actor)}</span>
    </span>
  );
}
