import { setTimeout as pause } from 'node:timers/promises';
import type { Command } from 'commander';
import type { ListRequestsQuery, LoggedRequest, LoggedRequestList, Sandbank } from '../../sdk/client.ts';
import { declare, group } from '../declare.ts';
import { fieldValues } from '../generated/values.ts';
import { untilInterrupted } from '../interrupt.ts';
import { fields } from '../layout.ts';
import type { Output } from '../output.ts';
import { withoutUndefined } from '../paging.ts';
import { wrongUsage } from '../problem.ts';
import { choice, whole } from '../reading.ts';

type Logged = LoggedRequestList['data'][number];

interface TailOptions {
  readonly status?: string;
  readonly errors?: true;
  readonly method?: string;
  readonly path?: string;
  readonly last?: number;
  readonly follow?: true;
}

const lastDefault = 20;
const pageMax = 100;
const pollMs = 1_000;
/** Hides the requests that this command itself makes. */
const own = 'listRequests';

export function addLogs(program: Command): void {
  const logs = group(program, 'logs', 'Watch the API requests of your application');
  declare<TailOptions>(logs, 'tail', {
    summary: 'Show recent requests, and follow new ones with --follow',
    details: 'Each is shown once. The key needs all four read scopes.',
    options: [
      ['--status <status>', 'a status such as 404, or a class such as 4xx'],
      ['--errors', 'only rejected and failed requests'],
      ['--method <method>', 'GET, HEAD or POST', choice(...fieldValues.listRequests.method)],
      ['--path <prefix>', 'only paths with this prefix, such as developer_api_payments'],
      ['--last <count>', `number of past requests to show (${lastDefault})`, whole(0, pageMax)],
      ['--follow', 'keep running until Ctrl-C'],
    ],
    examples: [
      ['logs tail'],
      ['logs tail --follow --status 4xx'],
      ['logs tail --errors --json | jq .errorCode'],
    ],
    run: async (session, options) => {
      const { status, errors, last = lastDefault, follow } = options;
      if (status !== undefined && !/^[1-5](xx|\d\d)$/.test(status))
        throw wrongUsage(`--status takes a status such as 404 or a class such as 4xx, not "${status}".`);
      if (errors && status !== undefined) throw wrongUsage('Pass --status or --errors, not both.');
      const sandbank = await session.sandbank();
      const filter = withoutUndefined({
        status,
        method: options.method,
        path: options.path,
      }) as ListRequestsQuery;
      const wanted = (one: Logged) => one.route !== own && (!errors || one.httpStatus >= 400);
      const signal = follow ? untilInterrupted() : undefined;
      const seen = new Set<string>();
      const page = await sandbank.requests.list({ ...filter, limit: pageMax }, { signal });
      const recent = page.data.filter(wanted);
      for (const one of recent.slice(0, last).reverse()) printRequest(session.out, one);
      for (const one of page.data) seen.add(one.id);
      if (signal)
        await followRequests(
          sandbank,
          filter,
          page.data[0]?.id,
          seen,
          signal,
          (one) => wanted(one) && printRequest(session.out, one),
        );
      return undefined;
    },
  });
  declare(logs, 'get <id>', {
    summary: 'Show a request with its body and the response, redacted',
    examples: [['logs get req_...'], ['logs get req_... --json | jq -r .responseBody']],
    run: async (session, _options, id = '') => {
      const request = await (await session.sandbank()).requests.retrieve(id);
      session.out.show(request, () => requestText(request));
      return undefined;
    },
  });
}

function requestText(request: LoggedRequest): string {
  const { id, at, method, path, query, httpStatus, durationMs, errorCode, actor, idempotencyKey } = request;
  const facts = fields([
    ['request', id],
    ['at', at],
    ['call', `${method} ${path}${query === null ? '' : `?${query}`}`],
    ['operation', request.route],
    ['response', `${httpStatus}${errorCode === null ? '' : ` ${errorCode}`}, ${durationMs} ms`],
    ['actor', actor.name ?? actor.id],
    ['idempotency key', idempotencyKey],
    ['fault plan', request.faultPlanId],
  ]);
  const bodies = [
    ['Request body', request.requestBody],
    ['Response body', request.responseBody],
  ].flatMap(([title, body]) => (body === null ? [] : [`${title}:\n${body}`]));
  return [facts, ...bodies].join('\n\n');
}

/**
 * Polls for requests that were written after the newest known one. A slow request has an older id than requests that were
 * written before it, so a query by id order would miss it.
 */
async function followRequests(
  sandbank: Sandbank,
  filter: ListRequestsQuery,
  newest: string | undefined,
  seen: Set<string>,
  signal: AbortSignal,
  print: (one: Logged) => void,
): Promise<void> {
  let after = newest;
  while (!signal.aborted) {
    const found: Logged[] = [];
    const query = { ...filter, limit: pageMax, ...(after === undefined ? {} : { after }) };
    try {
      for await (const one of sandbank.requests.list(query, { signal })) found.push(one);
    } catch (error) {
      if (signal.aborted) return;
      throw error;
    }
    after = found[0]?.id ?? after;
    for (const one of found.reverse()) {
      if (!seen.has(one.id)) print(one);
      seen.add(one.id);
    }
    await pause(pollMs, undefined, { signal }).catch(() => undefined);
  }
}

function printRequest(out: Output, one: Logged): void {
  const { at, method, path, query, httpStatus, durationMs, errorCode, faultPlanId, id } = one;
  out.show(one, () => {
    const { dim, green, red, yellow } = out.paint;
    const paint = httpStatus < 400 ? green : httpStatus < 500 ? yellow : red;
    const call = `${method.padEnd(4)} ${path}${query === null ? '' : `?${query}`}`;
    return `${dim(at)}  ${paint(String(httpStatus))}  ${call}  ${durationMs} ms  ${id}${errorCode === null ? '' : `  ${red(errorCode)}`}${faultPlanId === null ? '' : `  ${dim(faultPlanId)}`}`;
  });
}
