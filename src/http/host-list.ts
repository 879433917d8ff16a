const hostsMax = 100;
const name = /^(\*\.)?[0-9A-Za-z_]([0-9A-Za-z._-]{0,251}[0-9A-Za-z_])?$/;
const ipv6 = /^[0-9A-Fa-f:.]*:[0-9A-Fa-f:.]*:[0-9A-Fa-f:.]*$/;

/** Reads comma-separated names or addresses without a port. `*.example.com` matches all names below example.com. */
export function readHostList(
  text: string,
): { readonly hosts: readonly string[] } | { readonly problem: string } {
  const hosts = text
    .split(',')
    .map((host) => host.trim().replace(/^\[(.*)\]$/, '$1'))
    .filter((host) => host !== '');
  const invalid = hosts.find((host) => !name.test(host) && !ipv6.test(host));
  if (invalid !== undefined)
    return { problem: `must list names or addresses without a port, not "${invalid}"` };
  if (hosts.length > hostsMax) return { problem: `may list at most ${hostsMax} hosts` };
  return { hosts };
}
