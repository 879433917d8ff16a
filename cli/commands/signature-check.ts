import { readFile } from 'node:fs/promises';
import { text } from 'node:stream/consumers';
import type { Command } from 'commander';
import { declare } from '../declare.ts';
import { exits, wrongUsage } from '../problem.ts';
import { time } from '../reading.ts';
import { checkSignature } from '../signature-check.ts';

interface SignatureOptions {
  readonly id?: string;
  readonly timestamp?: string;
  readonly signature?: string;
  readonly body?: string;
  readonly secret?: string;
  readonly at?: string;
}

const bodyCharactersMax = 5_000_000;

export function addSignatureCheck(webhooks: Command): void {
  declare<SignatureOptions>(webhooks, 'verify', {
    summary: 'Verify the signature of a webhook request, and explain a mismatch',
    details: 'Pass the three webhook- headers unchanged. The exit code is 1 when the signature is not valid.',
    options: [
      ['--id <id>', 'the webhook-id header'],
      ['--timestamp <seconds>', 'the webhook-timestamp header'],
      ['--signature <text>', 'the complete webhook-signature header'],
      ['--body <file>', 'the request body, byte for byte; standard input by default'],
      [
        '--secret <whsec>',
        "the endpoint's secret; prefer SANDBANK_WEBHOOK_SECRET, which stays out of shell history",
      ],
      ['--at <time>', 'check the timestamp against this time instead of now', time],
    ],
    examples: [
      ['webhooks verify --id evt_... --timestamp 1794700000 --signature "v1,..." --body request.json'],
    ],
    run: async ({ out, env, stdin }, options) => {
      const secret = options.secret ?? env.SANDBANK_WEBHOOK_SECRET;
      if (!secret) throw wrongUsage('Pass the secret in SANDBANK_WEBHOOK_SECRET or with --secret.');
      const headers = {
        id: required(options.id, '--id'),
        timestamp: required(options.timestamp, '--timestamp'),
        signature: required(options.signature, '--signature'),
      };
      const body = options.body === undefined ? await text(stdin) : await readFile(options.body, 'utf8');
      if (body.length > bodyCharactersMax)
        throw wrongUsage(
          `The body has more than ${bodyCharactersMax} characters. Webhook bodies are smaller.`,
        );
      const at = options.at === undefined ? Date.now() : Date.parse(options.at);
      const { isValid, findings } = await checkSignature({ secret, ...headers, body }, at);
      const status = isValid ? 'valid' : 'invalid';
      out.show({ object: 'signature_check', sandbox: true, status, findings }, () =>
        [isValid ? 'Valid.' : 'Not valid.', ...findings.map(({ words }) => `- ${words}`)].join('\n'),
      );
      return isValid ? exits.fine : exits.refused;
    },
  });
}

function required(value: string | undefined, flag: string): string {
  if (value === undefined)
    throw wrongUsage(`${flag} is missing. "sandbank webhooks verify --help" shows an example.`);
  return value;
}
