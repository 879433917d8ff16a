/** How long a session lasts after its last use. */
export const sessionDays = 7;
/** How long the security history of an account is stored. */
export const historyDays = 90;
/** How long a password reset link is valid. */
export const resetHours = 24;
/** How long a sign-up with an invitation may take to join its organization. */
export const provisionalMinutes = 10;
/** Carries the client address that the server determined; a header sent by the client is never used. */
export const addressHeader = 'x-sandbank-address';
