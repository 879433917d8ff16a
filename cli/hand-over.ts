/** Commands that the server's own program runs, with the flags that it reads itself. */
const whole = new Set(['start', 'verify', 'users']);
const globalWithValue = new Set(['--url', '--api-key']);
const globalAlone = new Set(['--json', '--no-color']);
const asksForWords = (argv: readonly string[]) =>
  argv.some((one) => ['--help', '-h', '--version', '-V', '-v'].includes(one));

/**
 * Whether the arguments go to `src/main.ts` as they are: `start`, also when only flags are given, `verify`, `users` and
 * `webhooks verify`. They read their flags themselves. Without any argument the command shows its help.
 */
export function isForServer(argv: readonly string[]): boolean {
  if (argv.length === 0 || asksForWords(argv)) return false;
  const [name, next] = wordsOf(argv);
  if (name === undefined) return true;
  return whole.has(name) || (name === 'webhooks' && next === 'verify');
}

/** The first words, when nothing but flags of all commands stands before them. */
function wordsOf(argv: readonly string[]): readonly string[] {
  for (let at = 0; at < argv.length; at += 1) {
    const one = argv[at] ?? '';
    if (globalWithValue.has(one)) at += 1;
    else if (!globalAlone.has(one) && !/^--(url|api-key)=/.test(one))
      return one.startsWith('-') ? [] : argv.slice(at);
  }
  return [];
}
