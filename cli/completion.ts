import type { Command } from 'commander';
import { choicesOf, pathOf } from './declare.ts';
import type { Choices } from './reading.ts';

export type Shell = 'bash' | 'zsh' | 'fish';

interface CompletedOption {
  readonly short: string | undefined;
  readonly long: string;
  readonly description: string;
  readonly takesValue: boolean;
  readonly closed: Choices | undefined;
}

/** A command of the tree, with its subcommands, options and arguments. */
interface CommandNode {
  /** Such as `payments create`; empty for the program itself. */
  readonly path: string;
  readonly commands: readonly { readonly name: string; readonly description: string }[];
  readonly options: readonly CompletedOption[];
  /** The closed sets of its arguments, by position; undefined for an argument that takes anything. */
  readonly arguments: readonly (Choices | undefined)[];
}

/** A completion script, generated from the same tree and the same closed sets that parse the arguments. */
export function completionScript(program: Command, shell: Shell): string {
  const shared = optionsOf(program).filter(({ long }) => !['--version', '--help'].includes(long));
  return { bash, zsh, fish }[shell](nodesOf(program, shared));
}

function nodesOf(command: Command, shared: readonly CompletedOption[]): readonly CommandNode[] {
  const node = {
    path: pathOf(command),
    commands: command.commands.map((child) => ({ name: child.name(), description: child.summary() })),
    options: [...optionsOf(command), ...(command.parent === null ? [] : shared)],
    arguments: command.registeredArguments.map(choicesOf),
  };
  return [node, ...command.commands.flatMap((child) => nodesOf(child, shared))];
}

function optionsOf(command: Command): readonly CompletedOption[] {
  return command
    .createHelp()
    .visibleOptions(command)
    .map((option) => ({
      short: option.short,
      long: option.long ?? '',
      description: option.description,
      takesValue: option.required,
      closed: choicesOf(option),
    }));
}

/** The branches of a shell `case`; keys with the same value share one. */
function branches(rows: readonly (readonly [key: string, value: string])[]): string {
  const keys = new Map<string, string[]>();
  for (const [key, value] of rows) keys.set(value, [...(keys.get(value) ?? []), `'${key}'`]);
  return [...keys].map(([value, same]) => `    ${same.join('|')}) ${value} ;;`).join('\n');
}

/** Closed sets by `path/--option` and `path/position`: their kind (`one`, `list` or `any`), then the values. */
function valueRows(nodes: readonly CommandNode[]): readonly (readonly [key: string, text: string])[] {
  const rowText = (closed: Choices | undefined) =>
    closed === undefined ? 'any' : [closed.isList ? 'list' : 'one', ...closed.choices].join(' ');
  return nodes.flatMap(({ path, options, arguments: positions }) => [
    ...options
      .filter(({ takesValue }) => takesValue)
      .flatMap(({ short, long, closed }) =>
        [long, ...(short ? [short] : [])].map((name) => [`${path}/${name}`, rowText(closed)] as const),
      ),
    ...positions.flatMap((closed, at) => (closed ? [[`${path}/${at}`, rowText(closed)] as const] : [])),
  ]);
}

const valuesFunction = (nodes: readonly CommandNode[]) => `_sandbank_values() {
  case "$1" in
${branches(valueRows(nodes).map(([key, text]) => [key, `echo '${text}'`]))}
    *) return 1 ;;
  esac
}`;

/** bash splits the line at colons; it is therefore split again here, and completions begin after the last colon. */
const bash = (
  nodes: readonly CommandNode[],
) => `# Completion of sandbank for bash: source <(sandbank completion bash)
_sandbank_next() {
  case "$1" in
${branches(
  nodes.map(({ path, commands, options }) => [
    path,
    `echo '${[...commands.map(({ name }) => name), ...options.map(({ long }) => long)].join(' ')}'`,
  ]),
)}
    *) return 1 ;;
  esac
}
${valuesFunction(nodes)}
_sandbank() {
  local line="\${COMP_LINE:0:COMP_POINT}" place='' option='' count=0 found='' kind='one' before='' word i
  local -a tokens
  read -ra tokens <<< "$line"
  [[ "$line" == *[[:space:]] ]] && tokens+=('')
  local current="\${tokens[\${#tokens[@]} - 1]}"
  for ((i = 1; i < \${#tokens[@]} - 1; i++)); do
    word="\${tokens[i]}"
    if [[ -n "$option" ]]; then option=''
    elif [[ "$word" == -* ]]; then
      if _sandbank_values "$place/$word" > /dev/null; then option="$word"; fi
    elif _sandbank_next "\${place:+$place }$word" > /dev/null; then place="\${place:+$place }$word"
    else count=$((count + 1)); fi
  done
  if [[ -z "$option" && "$current" == --*=* ]]; then option="\${current%%=*}"; current="\${current#*=}"; fi
  if found="$(_sandbank_values "$place/\${option:-$count}")"; then
    kind="\${found%% *}"
    found="\${found#"$kind"}"
  fi
  if [[ -z "$option" ]]; then found="$found $(_sandbank_next "$place")"; fi
  if [[ "$kind" == list && "$current" == *,* ]]; then before="\${current%,*},"; current="\${current##*,}"; fi
  COMPREPLY=()
  while IFS= read -r word; do COMPREPLY+=("$word"); done < <(compgen -P "$before" -W "$found" -- "$current")
  local typed="$before$current"
  local colon="\${typed%"\${typed##*:}"}"
  if [[ -n "$colon" && "$COMP_WORDBREAKS" == *:* ]]; then COMPREPLY=("\${COMPREPLY[@]#"$colon"}"); fi
}
complete -o default -F _sandbank sandbank
`;

const zshQuoted = (text: string) => `'${text.replaceAll("'", "'\\''")}'`;

/** In \`$fpath\` the file is the body of the function, which the first completion calls; sourced, it registers the function. */
const zsh = (nodes: readonly CommandNode[]) => `#compdef sandbank
# Completion of sandbank for zsh: source <(sandbank completion zsh), or a file _sandbank in $fpath
_sandbank_next() {
  case "$1" in
${branches(
  nodes.map(({ path, commands, options }) => [
    path,
    `next=(${[
      ...commands.map(({ name, description }) => zshQuoted(`${name}:${description}`)),
      ...options.map(({ long, description }) => zshQuoted(`${long}:${description}`)),
    ].join(' ')})`,
  ]),
)}
    *) return 1 ;;
  esac
}
${valuesFunction(nodes)}
_sandbank() {
  local place='' option='' current="\${words[CURRENT]}" found word
  local -i count=0
  local -a next values
  for word in "\${(@)words[2,CURRENT-1]}"; do
    if [[ -n $option ]]; then option=''
    elif [[ $word == -* ]]; then
      if _sandbank_values "$place/$word" > /dev/null; then option=$word; fi
    elif _sandbank_next "\${place:+$place }$word"; then place="\${place:+$place }$word"
    else count+=1; fi
  done
  if [[ -z $option && $current == --*=* ]]; then
    option=\${current%%=*}
    compset -P '*='
  fi
  if found=$(_sandbank_values "$place/\${option:-$count}"); then
    values=(\${=found})
    case $values[1] in
      any) _files; return ;;
      list) compset -P '*,' ;;
    esac
    shift values
    compadd -a values
    [[ -n $option ]] && return
  fi
  next=()
  _sandbank_next "$place"
  _describe 'command or option' next || [[ -n $found ]] || _files
}
if [[ \${funcstack[1]} == _sandbank ]]; then _sandbank "$@"; else compdef _sandbank sandbank; fi
`;

const fishQuoted = (text: string) => `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`;

const fish = (
  nodes: readonly CommandNode[],
) => `# Completion of sandbank for fish: sandbank completion fish | source
set -g __sandbank_places ${nodes.flatMap(({ path }) => (path === '' ? [] : fishQuoted(path))).join(' ')}
set -g __sandbank_valued ${valueRows(nodes)
  .map(([key]) => fishQuoted(key))
  .join(' ')}
# Whether the cursor follows this command, and this many of its arguments.
function __sandbank_at
  set -l place ''
  set -l option ''
  set -l count 0
  for word in (commandline -opc)[2..-1]
    if test -n "$option"
      set option ''
    else if string match -q -- '-*' $word
      if contains -- "$place/$word" $__sandbank_valued; set option $word; end
    else if contains -- (string trim -- "$place $word") $__sandbank_places
      set place (string trim -- "$place $word")
    else
      set count (math $count + 1)
    end
  end
  test "$place" = "$argv[1]"; and begin; test (count $argv) -lt 2; or test $count -eq $argv[2]; end
end
# The values behind those of the list that are typed already.
function __sandbank_list
  set -l typed (string replace -r -- '^--[^=]*=' '' (commandline -ct))
  set -l before (string replace -rf -- '^(.*,).*$' '$1' "$typed")
  for value in $argv; echo "$before$value"; end
end
complete -c sandbank -f
${nodes.flatMap(fishLines).join('\n')}
`;

function fishLines({ path, commands, options, arguments: positions }: CommandNode): readonly string[] {
  const at = (...position: number[]) =>
    `complete -c sandbank -n ${fishQuoted(['__sandbank_at', `"${path}"`, ...position].join(' '))}`;
  return [
    ...commands.map(({ name, description }) => `${at()} -a ${name} -d ${fishQuoted(description)}`),
    ...options.map(
      ({ long, description, takesValue, closed }) =>
        `${at()} -l ${long.slice(2)}${takesValue ? fishValues(closed) : ''} -d ${fishQuoted(description)}`,
    ),
    ...positions.flatMap((closed, position) =>
      closed ? [`${at(position)}${fishValues(closed)}`] : [`${at(position)} -F`],
    ),
  ];
}

function fishValues(closed: Choices | undefined): string {
  if (closed === undefined) return ' -r -F';
  const values = closed.choices.map(fishQuoted).join(' ');
  return ` -x -a ${fishQuoted(closed.isList ? `(__sandbank_list ${values})` : values)}`;
}
