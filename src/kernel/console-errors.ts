import { type CatalogueEntry, entry, stored } from './error-entry.ts';

const ofConsole = { api: 'console' } as const;

/** Errors that only the console returns. */
export const consoleErrors = {
  session_missing: entry(
    401,
    'You are not signed in to the console.',
    'Sign in, then send the request again.',
    ofConsole,
  ),
  sign_in_failed: entry(
    401,
    'Wrong email or password.',
    'Check both. An owner of your organization can create a password reset link.',
    ofConsole,
  ),
  two_factor_failed: entry(
    401,
    'The two-factor code is wrong or has expired.',
    'Enter the current code of your authenticator, or an unused backup code.',
    ofConsole,
  ),
  role_missing: entry(
    403,
    'Your role in the organization does not allow this.',
    'Ask an owner or an admin of the organization.',
    ofConsole,
  ),
  passkey_failed: entry(
    401,
    'The passkey was not accepted.',
    'Try again, or sign in with your password.',
    ofConsole,
  ),
  two_factor_required: entry(
    403,
    'The organization requires two-factor sign-in of its members.',
    'Turn it on in your account, then send the request again.',
    ofConsole,
  ),
  origin_not_allowed: entry(
    403,
    'The console request comes from another site.',
    'Use the console under its own address; behind a proxy, set SANDBANK_PUBLIC_URL to the address that people see.',
    ofConsole,
  ),
  registration_closed: entry(
    403,
    'Registration is closed on this server, and only organization owners can create organizations.',
    'Ask an owner of your organization for an invitation link, or to create the organization.',
    ofConsole,
  ),
  application_archived: entry(
    409,
    'The application is archived and does not accept new records.',
    'Restore it first, or choose another application.',
    ofConsole,
  ),
  organization_name_mismatch: entry(
    422,
    'The name does not match the organization name.',
    'Type the name of the organization to confirm.',
    ofConsole,
  ),
  email_taken: entry(
    422,
    'An account with this email address already exists.',
    'Sign in with it, or use another address.',
    ofConsole,
  ),
  password_wrong: entry(
    422,
    'The current password is wrong.',
    'Enter the password that you sign in with.',
    ofConsole,
  ),
  password_too_weak: entry(
    422,
    'This password is too common.',
    'Choose a longer passphrase, without your name or email address.',
    ofConsole,
  ),
  link_invalid: entry(422, 'The link was already used or has expired.', 'Ask for a new one.', ofConsole),
  invitation_for_another: entry(
    422,
    'The invitation is for another email address.',
    'Sign in with the invited address, or ask for an invitation for your address.',
    { ...stored, ...ofConsole },
  ),
  reset_not_allowed: entry(
    422,
    'The person belongs to an organization that you do not own.',
    'Ask the server operator to create the link with `sandbank users reset-link`.',
    ofConsole,
  ),
  last_owner: entry(422, 'An organization needs at least one owner.', 'Make another member an owner first.', {
    ...stored,
    ...ofConsole,
  }),
  limit_reached: entry(422, 'The limit is reached.', 'Remove some that are no longer needed.', {
    ...stored,
    ...ofConsole,
  }),
} as const satisfies Record<string, CatalogueEntry>;

const ofOperator = { api: 'operator' } as const;

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
