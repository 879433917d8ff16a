/** What `--help` prints: every flag and variable that `config.ts` reads. */
export const usage = `Usage: npm start -- [flags]
       npm run sandbank -- verify [--data DIR] [--json] [--heads FILE] [--print-heads]
       npm run sandbank -- users --help
       npm run sandbank -- webhooks verify --help

start (the default) runs the server. verify recomputes every balance from the postings of the ledger and reports any
difference: of the embedded database while no server uses it, or of the one that DATABASE_URL names at any time. webhooks verify says
whether the signature of a webhook request is right, and why not.

  --port PORT        port to listen on; 0 takes a free one       (PORT, 4000)
  --host HOST        address to listen on                        (HOST, 127.0.0.1)
  --allowed-hosts LIST  hosts that requests may name, with commas
                     between them                                (SANDBANK_ALLOWED_HOSTS)
  --data DIR         where the embedded database lives, or
                     "memory" to keep nothing                    (SANDBANK_DATA_DIR, ./.sandbank)
  --seed FILE        seed file: organizations, applications and
                     keys to declare, or "none"; the default is for
                     the embedded database only                  (SANDBANK_SEED, ./sandbank.seed.json if it exists)
  --deterministic SEED  ids and times follow from the seed
                     and the requests; in memory only            (SANDBANK_DETERMINISTIC)
  --import FILE      a snapshot to import at the start, unless
                     its organizations are there already
  --export-on-exit FILE
                     where to write a snapshot of everything on
                     SIGTERM and SIGINT, with secrets; .gz packs it
  --role ROLE        all, api or worker                          (SANDBANK_ROLE, all)
  --metrics          serve Prometheus metrics at /metrics        (SANDBANK_METRICS=on)
  --json             verify: print the result as JSON
  --print-heads      verify: print the last seal of each audit
                     trail, to be kept elsewhere
  --heads FILE       verify: compare with what was kept
  --version, --help

Variables without a flag:
  DATABASE_URL               PostgreSQL 15 or newer instead of the embedded database; of several hosts
                             (postgres://user:password@first:5432,second:5432/database) the one that takes writes
  SANDBANK_SECRET            encrypts the secrets of webhooks and signs the sessions of the console; required with DATABASE_URL, else made and kept with the data
  SANDBANK_PRIVATE_WEBHOOKS  on or off: whether webhooks may go to private addresses; off with DATABASE_URL, else on
  SANDBANK_REGISTRATION      open or closed: whether anybody may sign up in the console, or only who was invited;
                             closed with DATABASE_URL, else open
  SANDBANK_ATTEMPT_DAYS      how long headers and bodies of webhook attempts are kept (30)
  SANDBANK_REQUEST_DAYS      how long requests are kept for the console (7)
  SANDBANK_OPERATOR_TOKEN    what the operator API takes, at least 32 characters; without it there is none with DATABASE_URL,
                             else one is made at each start
  SANDBANK_DRAIN_SECONDS     how long a server that was told to stop goes on serving, with 503 at /readyz, so that a
                             balancer finds out in time; 0 to 300 (0)
  SANDBANK_STATEMENT_TIMEOUT seconds that a request waits for one database statement before it gets 503, and half as
                             many, at least 5, for a connection; 1 to 600 (10)
  SANDBANK_CONNECTION_FILE   file for the address of the running server, for the command line and health checks; with an
                             embedded database also its API key and operator token (cli.json in the data directory)
  SANDBANK_RATE_LIMIT        off, or requests a second for each key and person; five times as many for an application
  SANDBANK_PUBLIC_URL        the address under which callers know this server
  SANDBANK_TRUSTED_PROXIES   networks of the proxies in front of it, such as 10.0.0.0/8,fd00::/8: only their
                             X-Forwarded-For names the client; none by default
  LOG_LEVEL                  fatal, error, warn, info, debug, trace or silent; info with DATABASE_URL, else warn
  OTEL_EXPORTER_OTLP_ENDPOINT  where to send traces, as OTLP over HTTP; without it there are none`;
