import type { Readable, Writable } from 'node:stream';
import type { Operator, Sandbank } from '../sdk/client.ts';
import type { Transport } from '../sdk/transport.ts';
import type { Output } from './output.ts';
import { CliProblem, exits, wrongUsage } from './problem.ts';
import { type ConnectionFlags, keyAdvice, readSettings, type Settings } from './settings.ts';

export interface Environment {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly directory: string;
  readonly stdin: Readable & { readonly isTTY?: boolean };
  readonly stdout: Writable;
  readonly stderr: Writable;
}

/** The context of a command. The client is created on first use. */
export class Session {
  readonly out: Output;
  readonly env: Environment['env'];
  readonly directory: string;
  readonly stdin: Environment['stdin'];
  /** For raw bytes and for prompts; text goes through `out`. */
  readonly stdout: Writable;
  readonly stderr: Writable;
  readonly #flags: ConnectionFlags;
  #settings: Settings | undefined;

  constructor(out: Output, flags: ConnectionFlags, { env, directory, stdin, stdout, stderr }: Environment) {
    this.out = out;
    this.env = env;
    this.directory = directory;
    this.stdin = stdin;
    this.stdout = stdout;
    this.stderr = stderr;
    this.#flags = flags;
  }

  get settings(): Settings {
    this.#settings ??= this.readSettings();
    return this.#settings;
  }

  /** The settings at this moment: a server that starts or stops changes the connection file. */
  readSettings(): Settings {
    return readSettings(this.#flags, this.env, this.directory);
  }

  /** The value of `--url`, without defaults. */
  get urlGiven(): string | undefined {
    return this.#flags.url;
  }

  async sandbank({ retriesMax }: { readonly retriesMax?: number } = {}): Promise<Sandbank> {
    const { url } = this.settings;
    const apiKey = await this.#requiredKey();
    const { Sandbank } = await import('../sdk/client.ts');
    return wellFormed(
      () =>
        new Sandbank({
          apiKey,
          baseUrl: url,
          retriesMax,
          onRetry: ({ error }) => this.out.progress(error.message),
        }),
    );
  }

  /** For requests that no method of the client sends. */
  async transport(): Promise<Transport> {
    const { url } = this.settings;
    const apiKey = await this.#requiredKey();
    const [{ Transport }, { connectionTo }, { apiVersion }] = await Promise.all([
      import('../sdk/transport.ts'),
      import('../sdk/settings.ts'),
      import('../sdk/generated/operations.ts'),
    ]);
    const headers = { Authorization: `Bearer ${apiKey}`, 'Api-Version': apiVersion };
    const onRetry = ({ error }: { readonly error: Error }) => this.out.progress(error.message);
    return wellFormed(() => new Transport(connectionTo(url, { onRetry }, headers)));
  }

  async #requiredKey(): Promise<string> {
    const { url, apiKey } = this.settings;
    if (apiKey === undefined)
      throw new CliProblem(
        `There is no API key for ${url}. ${keyAdvice(this.settings)}`,
        exits.authentication,
      );
    if (!this.env.SANDBANK_API_KEY && this.env.SANDBANK_KEY === apiKey)
      this.out.say((await import('../sdk/settings.ts')).oldNameHint);
    return apiKey;
  }

  async operator(): Promise<Operator> {
    const { url, operatorToken: token } = this.settings;
    if (token === undefined)
      throw new CliProblem(
        `There is no operator token for ${url}. Set SANDBANK_OPERATOR_TOKEN to the server's token, or run the command in the folder where "sandbank start" runs.`,
        exits.authentication,
      );
    const { Operator } = await import('../sdk/operator.ts');
    return wellFormed(() => new Operator({ url, token }));
  }
}

/** The client rejects a malformed address with a TypeError; on the command line that is wrong usage. */
function wellFormed<T>(make: () => T): T {
  try {
    return make();
  } catch (error) {
    if (error instanceof TypeError) throw wrongUsage(error.message);
    throw error;
  }
}
