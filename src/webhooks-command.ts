import { readFile } from 'node:fs/promises';
import { text } from 'node:stream/consumers';
import { parseArgs } from 'node:util';
import { ConfigProblem } from './config.ts';
import { examineSignature } from './signature-check.ts';

export const webhooksUsage = `Usage: npm run sandbank -- webhooks verify --id ID --timestamp SECONDS --signature TEXT [--body FILE] [flags]

Says whether the signature of a webhook request is right, and why not. Pass the three webhook- headers as they came.

  --id ID            the header webhook-id
  --timestamp TEXT   the header webhook-timestamp
  --signature TEXT   the whole header webhook-signature
  --body FILE        the body, byte for byte; from the standard input without it
  --secret SECRET    the endpoint's secret; better in the variable SANDBANK_WEBHOOK_SECRET, which no history keeps
  --at TIME          judge the timestamp by this time and not by now, for a request of some while ago
  --json             print the findings as JSON

Example:
  SANDBANK_WEBHOOK_SECRET=whsec_... npm run sandbank -- webhooks verify \\
    --id evt_... --timestamp 1794700000 --signature "v1,..." --body request.json`;

const bodyCharactersMax = 5_000_000;

/** `sandbank webhooks verify`: the exit code says it too. */
export async function webhooksCommand(
  argv: readonly string[],
  env: Readonly<Record<string, string | undefined>>,
  input: NodeJS.ReadableStream,
): Promise<{ readonly output: string; readonly isValid: boolean }> {
  const { values, positionals } = readFlags(argv);
  if (values.help) return { output: webhooksUsage, isValid: true };
  if (positionals.length !== 1 || positionals[0] !== 'verify')
    throw new ConfigProblem('The command is "webhooks verify"; --help shows its flags.');
  const secret = values.secret ?? env.SANDBANK_WEBHOOK_SECRET;
  if (!secret) throw new ConfigProblem('Pass the secret in SANDBANK_WEBHOOK_SECRET or with --secret.');
  const at = values.at === undefined ? Date.now() : Date.parse(values.at);
  if (Number.isNaN(at))
    throw new ConfigProblem(`--at must be a time such as 2026-11-15T09:00:00Z, not "${values.at}".`);
  const body = values.body === undefined ? await text(input) : await readBody(values.body);
  if (body.length > bodyCharactersMax) throw new ConfigProblem('The body is larger than any that is sent.');
  const examination = examineSignature(
    {
      secret,
      id: required(values.id, '--id'),
      timestamp: required(values.timestamp, '--timestamp'),
      signature: required(values.signature, '--signature'),
      body,
    },
    at,
  );
  const { isValid, findings } = examination;
  const output = values.json
    ? JSON.stringify({
        object: 'signature_check',
        sandbox: true,
        status: isValid ? 'valid' : 'invalid',
        findings,
      })
    : [isValid ? 'Valid.' : 'Not valid.', ...findings.map(({ words }) => `- ${words}`)].join('\n');
  return { output, isValid };
}

function readFlags(argv: readonly string[]) {
  const word = { type: 'string' } as const;
  const flag = { type: 'boolean' } as const;
  const options = {
    id: word,
    timestamp: word,
    signature: word,
    body: word,
    secret: word,
    at: word,
    json: flag,
    help: flag,
  };
  try {
    return parseArgs({ args: [...argv], options, strict: true, allowPositionals: true });
  } catch (error) {
    const reason = error instanceof Error ? error.message.split('. ')[0] : String(error);
    throw new ConfigProblem(`${reason}; "webhooks verify --help" lists the flags.`);
  }
}

function required(value: string | undefined, flag: string): string {
  if (value === undefined)
    throw new ConfigProblem(`${flag} is missing; "webhooks verify --help" shows an example.`);
  return value;
}

async function readBody(file: string): Promise<string> {
  return readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
    throw new ConfigProblem(`The file ${file} cannot be read: ${error.code ?? error.message}.`);
  });
}
