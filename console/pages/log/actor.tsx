import { Bot, KeyRound, UserRound } from 'lucide-react';
import type { Actor } from '../../client/shapes.ts';

const kinds = {
  api_key: { icon: KeyRound, words: 'API key' },
  person: { icon: UserRound, words: 'Person' },
  system: { icon: Bot, words: 'Sandbank' },
} as const;

export function actorWords({ kind, id, name }: Actor): string {
  return name ?? id ?? kinds[kind].words;
}

/** Who did something; the icon says whether it was a key, a person or the server. */
export function ActorName({ actor }: { readonly actor: Actor }) {
  const { icon: Icon, words } = kinds[actor.kind];
  return (
    <span className="inline-flex max-w-full items-center gap-1.5 align-middle" title={actor.id ?? undefined}>
      <Icon aria-hidden size={14} className="shrink-0 text-faint" />
      <span className="sr-only">{words} </span>
      <span className="max-w-52 truncate">{actorWords(actor)}</span>
    </span>
  );
}
