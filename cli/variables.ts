/** The settings of the server that have no flag, by name. A test compares them with those that src/config.ts reads. */
export const serverVariables: Readonly<Record<string, string>> = {
  DATABASE_URL:
    'use PostgreSQL 15 or newer instead of the embedded database; of several hosts (postgres://user:password@first:5432,second:5432/database) the primary is used',
  SANDBANK_SECRET:
    'encrypts webhook secrets and signs console sessions; required with DATABASE_URL, otherwise generated and stored with the data',
  SANDBANK_PRIVATE_WEBHOOKS:
    'on or off: allow webhooks to private addresses (off with DATABASE_URL, otherwise on)',
  SANDBANK_REGISTRATION:
    'open or closed: whether sign-up is open or by invitation only (closed with DATABASE_URL, otherwise open)',
  SANDBANK_ATTEMPT_DAYS: 'days to retain headers and bodies of webhook attempts (30)',
  SANDBANK_REQUEST_DAYS: 'days to retain the request log (7)',
  SANDBANK_OPERATOR_TOKEN:
    'token of the operator API, at least 32 characters; without it the API is off with DATABASE_URL, otherwise a token is generated at each start',
  SANDBANK_DRAIN_SECONDS:
    'seconds to keep serving after SIGTERM, with 503 at /readyz, so that load balancers notice; 0 to 300 (0)',
  SANDBANK_STATEMENT_TIMEOUT:
    'seconds to wait for a database statement before the response is 503; 1 to 600 (10)',
  SANDBANK_RATE_LIMIT:
    'off, or requests per second for each key and person, five times as many for each application (100 with DATABASE_URL, otherwise off)',
  SANDBANK_PUBLIC_URL: 'the address under which clients reach this server',
  SANDBANK_TRUSTED_PROXIES:
    'networks of reverse proxies, such as 10.0.0.0/8,fd00::/8, whose X-Forwarded-For is trusted (none)',
  SANDBANK_CONNECTION_FILE:
    'file for the address of the running server, for the command line and health checks; embedded also with its API key and operator token (cli.json in the data directory)',
  LOG_LEVEL: 'fatal, error, warn, info, debug, trace or silent (info with DATABASE_URL, otherwise warn)',
  OTEL_EXPORTER_OTLP_ENDPOINT: 'where to send traces, as OTLP over HTTP (none)',
};

const width = Math.max(...Object.keys(serverVariables).map((name) => name.length));

export function variablesText(): string {
  const lines = Object.entries(serverVariables).map(
    ([name, description]) => `  ${name.padEnd(width)}  ${description}`,
  );
  return ['Environment variables without a flag:', ...lines].join('\n');
}
