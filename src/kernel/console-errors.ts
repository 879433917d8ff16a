import { type CatalogueEntry, entry, stored } from './error-entry.ts';

const ofConsole = { isOfConsole: true };

/** The part of the catalogue that only people in the console meet. */
export const consoleErrors = {
  session_missing: entry(
    401,
    'Nobody is signed in to the console.',
    'Sign in, then send the request again.',
    ofConsole,
  ),
  sign_in_failed: entry(
    401,
    'The e-mail address and the password do not belong together.',
    'Check both. An owner of your organization can make a link with which you choose a new password.',
    ofConsole,
  ),
  two_factor_failed: entry(
    401,
    'The code of the second factor is wrong or too old.',
    'Enter the code that your authenticator shows now, or a backup code that was not used yet.',
    ofConsole,
  ),
  role_missing: entry(
    403,
    'Your role in the organization does not allow this.',
    'Ask an owner or an admin of the organization.',
    ofConsole,
  ),
  origin_not_allowed: entry(
    403,
    'The request to the console comes from another site.',
    'Use the console under its own address; behind a proxy, set SANDBANK_PUBLIC_URL to the address that people see.',
    ofConsole,
  ),
  registration_closed: entry(
    403,
    'Nobody can sign up on this server by themselves, and only owners of an organization make others.',
    'Ask an owner of your organization for an invitation link, or to make it.',
    ofConsole,
  ),
  application_archived: entry(
    409,
    'The application is archived: nothing new can be made in it.',
    'Restore it first, or choose another application.',
    ofConsole,
  ),
  organization_name_mismatch: entry(
    422,
    'This is not the name of the organization.',
    'Type the name of the organization to confirm that it shall be deleted.',
    ofConsole,
  ),
  email_taken: entry(
    422,
    'There is an account with this e-mail address.',
    'Sign in with it, or use another address.',
    ofConsole,
  ),
  password_wrong: entry(
    422,
    'The current password is not right.',
    'Enter the password that you sign in with.',
    ofConsole,
  ),
  link_invalid: entry(422, 'The link was used already, or is too old.', 'Ask for a new one.', ofConsole),
  invitation_for_another: entry(
    422,
    'The invitation was made for another e-mail address.',
    'Sign in with the address that it names, or ask for an invitation of your own.',
    { ...stored, ...ofConsole },
  ),
  reset_not_allowed: entry(
    422,
    'The person belongs to an organization that you do not own.',
    'Whoever runs this server can make the link: `sandbank users reset-link`.',
    ofConsole,
  ),
  last_owner: entry(
    422,
    'An organization without an owner could not be managed by anybody.',
    'Make another member an owner first.',
    { ...stored, ...ofConsole },
  ),
  limit_reached: entry(422, 'There are as many as there may be.', 'Remove some that are no longer needed.', {
    ...stored,
    ...ofConsole,
  }),
} as const satisfies Record<string, CatalogueEntry>;
