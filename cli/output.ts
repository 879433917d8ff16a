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
 * The result goes to stdout, as text for people or with `--json` as one JSON value per line. Messages go to stderr, so that a pipe receives
 * only the result. Colours and progress are for terminals.
 */
export class Output {
  readonly isJson: boolean;
  /** For text on stdout. */
  readonly paint: Paint;
  /** For text on stderr. */
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

  /** A message on stderr. */
  say(text: string): void {
    this.#clear();
    this.#settings.stderr.write(`${text}\n`);
  }

  /** A line that the next output replaces; only terminals show it. */
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

/** In this order: --no-color, FORCE_COLOR, NO_COLOR, TERM=dumb, then whether it is a terminal. docs/cli.md documents it. */
function hasColours({ isColoured, env }: OutputSettings, sink: Sink): boolean {
  if (!isColoured) return false;
  // As in Node: FORCE_COLOR overrides NO_COLOR. Empty variables count as not set (no-color.org).
  if (env.FORCE_COLOR) return !['0', 'false'].includes(env.FORCE_COLOR);
  if (env.NO_COLOR || env.TERM === 'dumb') return false;
  return sink.isTTY === true;
}

function paintFor(settings: OutputSettings, sink: Sink): Paint {
  const isOn = hasColours(settings, sink);
  const painter = (code: number) => (text: string) => (isOn ? `\u001b[${code}m${text}\u001b[0m` : text);
  return Object.fromEntries(Object.entries(codes).map(([name, code]) => [name, painter(code)])) as Paint;
}

const statusColours: Readonly<Record<string, keyof Paint>> = {
  ...coloured('green', 'authorized captured settled succeeded completed won enabled active intact accepted'),
  ...coloured('yellow', 'pending requires_action processing partially_captured partially_refunded disputed'),
  ...coloured('yellow', 'needs_response under_review in_review quoted funded converted sent running'),
  ...coloured('red', 'failed charged_back lost returned refused disabled'),
  ...coloured('dim', 'canceled expired archived exhausted refunded'),
};

function coloured(colour: keyof Paint, statuses: string): Record<string, keyof Paint> {
  return Object.fromEntries(statuses.split(' ').map((status) => [status, colour]));
}

/** A status in its colour: green went well, yellow is open, red went wrong, dim has ended without effect. */
export function paintStatus(paint: Paint, text: string): string {
  const colour = statusColours[text.split(' ')[0] ?? ''];
  return colour === undefined ? text : paint[colour](text);
}
