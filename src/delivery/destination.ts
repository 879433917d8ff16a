/** The server that a webhook URL leads to. */
export interface Destination {
  /** Equal for all URLs of one server: the host name, and on loopback the port too. */
  readonly key: string;
  readonly isLoopback: boolean;
}

/**
 * On loopback every port is a server of its own, and all of them belong to whoever runs this process. Elsewhere the host counts: its
 * ports lead to the same machine. `URL` has already brought decimal, octal and mixed-case spellings into one form.
 */
export function destinationOf(url: string): Destination {
  const { hostname, host } = new URL(url);
  const name = hostname.replace(/\.$/, '');
  const isLoopback =
    name === 'localhost' ||
    name.endsWith('.localhost') ||
    name === '[::1]' ||
    /^127(\.\d{1,3}){3}$/.test(name);
  return { key: isLoopback ? host : name, isLoopback };
}
