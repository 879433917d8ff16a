import { type CatalogueEntry, entry } from './error-entry.ts';

const ofOperator = { isOfConsole: true, isOfOperator: true };

/** The part of the catalogue that only the operator of a server meets. */
export const operatorErrors = {
  operator_token_invalid: entry(
    401,
    'The request to the operator API does not carry the token of this server.',
    'Send `Authorization: Bearer` with the value of SANDBANK_OPERATOR_TOKEN, or of `operatorToken` in `cli.json` of the data directory.',
    ofOperator,
  ),
  organization_exists: entry(
    409,
    'The organization of the snapshot is on this server already.',
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
    'The snapshot cannot be read, was changed after the export, or its books are not sound.',
    'See `message` for the line or the check that failed, and export the organization again.',
    ofOperator,
  ),
  snapshot_too_new: entry(
    422,
    'The snapshot was made by a newer version of Sandbank.',
    'Import it with that version, or a later one.',
    ofOperator,
  ),
} as const satisfies Record<string, CatalogueEntry>;
