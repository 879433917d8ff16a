/**
 * Errors whose message names a field or header for an API client. The console shows a person what to do instead. Only errors
 * with a fixed message are listed: a message that names the values of the request is more specific.
 */
export const consoleMessages: Readonly<Record<string, string>> = {
  beneficiary_missing: 'Enter a beneficiary with a name.',
  customer_archived: 'This customer is archived. Choose an active customer, or none.',
  customer_not_found: 'This customer does not exist. Choose another customer, or none.',
  quote_expired: 'The quote has expired. Get a new quote first.',
  replay_running: 'Another replay of the application is not finished.',
  resource_not_found: 'There is no such record in this organization.',
  sign_in_failed: 'Wrong email or password.',
  two_factor_required: 'The organization requires two-factor sign-in. Turn it on in your account first.',
  webhook_not_found: 'This webhook does not exist, or belongs to another application.',
};

/** The message of an error response for a person. */
export function consoleMessage(code: string | undefined, message: string): string {
  return (
    consoleMessages[code ?? ''] ??
    message.replace(/ Wait as long as Retry-After says,.*$/s, ' Try again later.')
  );
}
