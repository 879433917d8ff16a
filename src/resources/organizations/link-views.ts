/** Console links that people receive. */
export function invitationUrl(publicUrl: string, token: string): string {
  return `${publicUrl}/console/invitation/${token}`;
}

export function resetUrl(publicUrl: string, token: string): string {
  return `${publicUrl}/console/reset/${token}`;
}
