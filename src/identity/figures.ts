/** How long a session lasts from its last use. */
export const sessionDays = 7;
/** How long a link to a new password is good for. */
export const resetHours = 24;
/** The address of a caller is what the server saw, not what a header claims. */
export const addressHeader = 'x-sandbank-address';
