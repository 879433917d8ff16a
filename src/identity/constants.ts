/** How long a session lasts after its last use. */
export const sessionDays = 7;
/** How long a password reset link is valid. */
export const resetHours = 24;
/** How long a sign-up with an invitation may take until it has joined. */
export const provisionalMinutes = 10;
/** Carries the client address that the server determined; never what a client sent. */
export const addressHeader = 'x-sandbank-address';
