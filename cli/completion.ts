import type { Command } from 'commander';

/** A place in the tree: the words that lead there, and what can follow. */
interface Place {
  readonly path: string;
  readonly next: readonly { readonly word: string; readonly words: string }[];
}

export const shells = ['bash', 'zsh', 'fish'] as const;
export type Shell = (typeof shells)[number];

/** A script for a shell, made of the same tree that parses the arguments. */
export function completionScript(program: Command, shell: Shell): string {
  const places = placesOf(program, '');
  const globals = optionsOf(program);
  const all = places.map(({ path, next }) => ({ path, next: path === '' ? next : [...next, ...globals] }));
  return { bash, zsh, fish }[shell](all);
}

function placesOf(command: Command, path: string): readonly Place[] {
  const children = command.commands.map((child) => ({ word: child.name(), words: child.summary() }));
  return [
    { path, next: [...children, ...optionsOf(command)] },
    ...command.commands.flatMap((child) => placesOf(child, `${path} ${child.name()}`.trim())),
  ];
}

function optionsOf(command: Command): readonly { word: string; words: string }[] {
  const own = command.options.map(({ long, description }) => ({ word: long ?? '', words: description }));
  return [...own.filter(({ word }) => word !== ''), { word: '--help', words: 'show help' }].filter(
    ({ word }, place, all) => all.findIndex((one) => one.word === word) === place,
  );
}

const cases = (places: readonly Place[]) =>
  places
    .map(({ path, next }) => `    '${path}') echo '${next.map(({ word }) => word).join(' ')}' ;;`)
    .join('\n');

const bash = (
  places: readonly Place[],
) => `# Completion of sandbank for bash: source <(sandbank completion bash)
_sandbank_next() {
  case "$1" in
${cases(places)}
    *) return 1 ;;
  esac
}
_sandbank() {
  local place='' word i
  for ((i = 1; i < COMP_CWORD; i++)); do
    word="\${COMP_WORDS[i]}"
    if _sandbank_next "\${place:+$place }$word" > /dev/null; then place="\${place:+$place }$word"; fi
  done
  COMPREPLY=($(compgen -W "$(_sandbank_next "$place")" -- "\${COMP_WORDS[COMP_CWORD]}"))
}
complete -o default -F _sandbank sandbank
`;

const zsh = (places: readonly Place[]) => `#compdef sandbank
# Completion of sandbank for zsh: source <(sandbank completion zsh)
_sandbank_next() {
  case "$1" in
${cases(places)}
    *) return 1 ;;
  esac
}
_sandbank() {
  local place='' word
  for word in "\${(@)words[2,CURRENT-1]}"; do
    if _sandbank_next "\${place:+$place }$word" > /dev/null; then place="\${place:+$place }$word"; fi
  done
  compadd -- \${=$(_sandbank_next "$place")} || _files
}
compdef _sandbank sandbank
`;

const quoted = (text: string) => `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`;

const fish = (
  places: readonly Place[],
) => `# Completion of sandbank for fish: sandbank completion fish | source
function __sandbank_place
  set -l place
  for word in (commandline -opc)[2..-1]
    if contains -- (string join ' ' $place $word) $__sandbank_places; set place $place $word; end
  end
  test (string join ' ' $place) = "$argv[1]"
end
set -g __sandbank_places ${places
  .filter(({ path }) => path !== '')
  .map(({ path }) => quoted(path))
  .join(' ')}
${places
  .flatMap(({ path, next }) =>
    next.map(({ word, words }) => {
      const what = word.startsWith('--') ? `-l ${word.slice(2)}` : `-f -a ${word}`;
      return `complete -c sandbank -n ${quoted(`__sandbank_place "${path}"`)} ${what} -d ${quoted(words)}`;
    }),
  )
  .join('\n')}
`;
