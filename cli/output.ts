/** A stream that may be a terminal. */
export interface Sink {
  readonly isTTY?: boolean;
  write(text: string): unknown;
}

export interface OutputSettings {
  readonly stdout: Sink;
  readonly stderr: Sink;
  readonly isJson: boolean;
  /** False for `--no-color`. */
  readonly isColoured: boolean;
  readonly env: Readonly<Record<string, string | undefined>>;
}

const codes = { bold: 1, dim: 2, red: 31, green: 32, yellow: 33, cyan: 36 } as const;
export type Paint = Readonly<Record<keyof typeof codes, (text: string) => string>>;

/**
 * Where words go. The result goes to stdout, as text for people or with `--json` as one JSON value a line; everything that is
 * said beside it goes to stderr, so that a pipe gets the result alone. Colours and progress are for terminals.
 */
export class Output {
  readonly isJson: boolean;
  /** For what goes to stdout. */
  readonly paint: Paint;
  /** For what goes to stderr. */
  readonly paintAside: Paint;
  readonly #settings: OutputSettings;
  #hasProgress = false;

  constructor(settings: OutputSettings) {
    this.#settings = settings;
    this.isJson = settings.isJson;
    this.paint = paintFor(settings, settings.stdout);
    this.paintAside = paintFor(settings, settings.stderr);
  }

  /** The result: `value` for machines, `text` for people. */
  show(value: unknown, text: () => string): void {
    this.line(this.isJson ? JSON.stringify(value) : text());
  }

  /** A line of stdout. */
  line(text: string): void {
    this.#clear();
    this.#settings.stdout.write(`${text}\n`);
  }

  /** Words beside the result. */
  say(text: string): void {
    this.#clear();
    this.#settings.stderr.write(`${text}\n`);
  }

  /** A line that the next one replaces; only a terminal shows it. */
  progress(text: string): void {
    if (!this.#settings.stderr.isTTY) return;
    this.#hasProgress = true;
    this.#settings.stderr.write(`\r\u001b[K${text}`);
  }

  #clear(): void {
    if (!this.#hasProgress) return;
    this.#hasProgress = false;
    this.#settings.stderr.write('\r\u001b[K');
  }
}

/** Colours only on a terminal that wants them; NO_COLOR counts when it is set and not empty (no-color.org). */
function paintFor({ isColoured, env }: OutputSettings, sink: Sink): Paint {
  const isOn = isColoured && sink.isTTY === true && !env.NO_COLOR && env.TERM !== 'dumb';
  const painter = (code: number) => (text: string) => (isOn ? `\u001b[${code}m${text}\u001b[0m` : text);
  return Object.fromEntries(Object.entries(codes).map(([name, code]) => [name, painter(code)])) as Paint;
}
