import { type CatalogueEntry, entry } from './error-entry.ts';

const ofOperator = { isOfConsole: true, isOfOperator: true };

/** Errors that only the operator API returns. */
export const operatorErrors = {
  operator_token_invalid: entry(
    401,
    'The request does not have the operator token of this server.',
    'Send `Authorization: Bearer` with the value of SANDBANK_OPERATOR_TOKEN, or of `operatorToken` in `cli.json` of the data directory.',
    ofOperator,
  ),
  organization_exists: entry(
    409,
    'The organization of the snapshot already exists on this server.',
    'Import it as a fork with `fork=true`, or into another server.',
    ofOperator,
  ),
  snapshot_incomplete: entry(
    422,
    'The end of the snapshot is missing.',
    'Copy or export it again: a snapshot ends with a line of counts and a SHA-256.',
    ofOperator,
  ),
  snapshot_invalid: entry(
    422,
    'The snapshot cannot be read, was changed after the export, or its ledger is inconsistent.',
    'See `message` for the failed line or check, and export the organization again.',
    ofOperator,
  ),
  snapshot_too_new: entry(
    422,
    'A newer version of Sandbank created the snapshot.',
    'Import it with that version, or a later one.',
    ofOperator,
  ),
} as const satisfies Record<string, CatalogueEntry>;
