import { whereData } from '../admin/database.ts';
import type { Config } from '../config.ts';

export interface BannerContent {
  readonly address: string;
  /** A link that makes its user the owner of the demo organization. */
  readonly ownerLink: string | undefined;
  readonly demoKey: string | undefined;
  readonly hasKeys: boolean;
}

/** The text for the terminal when the server is ready. */
export function banner(config: Config, { address, ownerLink, demoKey, hasKeys }: BannerContent): string {
  const lines = [
    '',
    'Sandbank is running. Sandbox only: no real money moves.',
    '',
    `  API      ${address}/_api`,
    `  Docs     ${address}/docs`,
    `  Console  ${address}/console`,
    `  Data     ${whereData(config)}`,
  ];
  if (config.seedFile !== undefined) lines.push(`  Seed     ${config.seedFile}`);
  if (demoKey !== undefined) lines.push(`  API key  ${demoKey}`);
  lines.push('');
  if (ownerLink !== undefined)
    lines.push(
      'Sign in to the console with this link; it makes you the owner of Demo:',
      '',
      `  ${ownerLink}`,
      '',
    );
  if (demoKey !== undefined) lines.push('Create a payment:', '', `  ${firstCommand(address, demoKey)}`, '');
  else if (!hasKeys)
    lines.push(
      'There is no API key yet. Create one in the console, or declare one in a seed file and start with --seed FILE.',
      '',
    );
  else if (config.seedFile === undefined && config.databaseUrl === undefined)
    lines.push('There is no demo API key here. Use one of your API keys, or create one in the console.', '');
  return lines.join('\n');
}

function firstCommand(address: string, key: string): string {
  return `curl ${address}/_api/developer_api_payments -H "Authorization: Bearer ${key}" -H "Idempotency-Key: first-payment" -H "Content-Type: application/json" -d '{"amount":1250,"currency":"EUR"}'`;
}
