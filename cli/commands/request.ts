import { type Command, InvalidArgumentError } from 'commander';
import { declare } from '../declare.ts';
import { errorResponse, isSandbankError } from '../failure.ts';
import { requestPaths } from '../generated/values.ts';
import { type JsonObject, jsonObject, readData, withField } from '../json-data.ts';
import type { RawRequest } from '../raw-request.ts';
import { choiceOr, looseJson, pairs } from '../reading.ts';
import type { Session } from '../session.ts';

interface GetOptions {
  readonly query?: Readonly<Record<string, string>>;
  readonly header?: Readonly<Record<string, string>>;
}

interface PostOptions extends GetOptions {
  readonly data?: readonly string[];
  readonly idempotencyKey?: string;
}

const pathDetails =
  'The path may omit /_api/ and developer_api_: payments/pay_... is /_api/developer_api_payments/pay_... The response is printed as JSON, also an error response. The API has only GET and POST.';

/** Ids are part of many paths, and a newer server has more of them. */
const anyPath = { pattern: /^/, description: 'any path' };

const commonOptions = [
  ['--query <name=value>', 'query parameter; may be repeated', pairs],
  ['--header <name:value>', "request header, such as 'Accept: text/csv'; may be repeated", headers],
] as const;

export function addRequest(program: Command): void {
  declare<GetOptions>(program, 'get <path>', {
    summary: 'Send a GET request to any API path',
    details: pathDetails,
    arguments: { path: choiceOr(anyPath, ...requestPaths.GET) },
    options: commonOptions,
    examples: [
      ['get payments --query status=captured --query limit=5'],
      ['get developer_api_capabilities | jq .currencies'],
      ["get settlements/2031-03-04 --header 'Accept: text/csv'"],
    ],
    run: (session, { query, header }, path = '') =>
      send(session, { verb: 'GET', path, query, headers: header }),
  });
  declare<PostOptions>(program, 'post <path>', {
    summary: 'Send a POST request to any API path',
    arguments: { path: choiceOr(anyPath, ...requestPaths.POST) },
    details: `${pathDetails} In name=value a value that is JSON, such as 1250, true or ["a"], is sent as JSON, and everything else as text; write '"1250"' for a number as text. Several -d are merged in order.`,
    options: [
      [
        '-d, --data <data>',
        'name=value (name may be a path such as paymentMethod.type), a JSON object, @FILE, or - for standard input; may be repeated',
        (text: string, before: readonly string[] | undefined) => [...(before ?? []), text],
      ],
      ['--idempotency-key <key>', 'idempotency key; one is generated without it'],
      ...commonOptions,
    ],
    examples: [
      ['post payments -d amount=1250 -d currency=EUR -d metadata.order=A7'],
      [`post payments/pay_.../advance -d '{"to": "captured"}'`],
      ['post customers -d @customer.json --idempotency-key order-42'],
    ],
    run: async (session, { data, query, header, idempotencyKey }, path = '') => {
      const body = data === undefined ? undefined : await merged(session, data);
      return send(session, { verb: 'POST', path, query, headers: header, body, idempotencyKey });
    },
  });
}

async function send(session: Session, request: RawRequest): Promise<undefined> {
  const { out } = session;
  const { sendRaw } = await import('../raw-request.ts');
  try {
    const response = await sendRaw(session, request);
    if (typeof response === 'string') out.line(response.trimEnd());
    else out.show(response, () => JSON.stringify(response, null, 2));
  } catch (error) {
    // With --json every command prints the error response on stdout.
    if (isSandbankError(error) && !out.isJson) out.line(JSON.stringify(errorResponse(error), null, 2));
    throw error;
  }
  return undefined;
}

async function merged(session: Session, data: readonly string[]): Promise<JsonObject> {
  let body: JsonObject = {};
  for (const one of data) {
    const at = /^[@{-]/.test(one) ? -1 : one.indexOf('=');
    body =
      at > 0
        ? withField(body, one.slice(0, at), looseJson(one.slice(at + 1)))
        : { ...body, ...jsonObject(await readData(session, one), dataMessage) };
  }
  return body;
}

const dataMessage = '--data must be name=value, a JSON object, @FILE, or - for standard input.';

/** `Name: value`, collected. */
function headers(
  text: string,
  before: Readonly<Record<string, string>> | undefined,
): Readonly<Record<string, string>> {
  const [, name, value] = /^([\w!#$%&'*+.^`|~-]+):\s*([\x20-\x7e]+)$/.exec(text) ?? [];
  if (name === undefined || value === undefined)
    throw new InvalidArgumentError("It must have the form 'Accept: text/csv'.");
  return { ...before, [name]: value };
}
