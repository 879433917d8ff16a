import {
  type CallToolResult,
  fromJsonSchema,
  type JsonSchemaType,
  McpServer,
} from '@modelcontextprotocol/server';
import type { Sandbank } from '../../sdk/client.ts';
import { inputs } from '../../sdk/generated/inputs.ts';
import { call, operationOf } from '../calling.ts';
import { errorCatalogue, refusalText } from './errors.ts';
import { flatSchema, type InputSchema } from './schema.ts';
import { type OperationTool, operationTools } from './tools.ts';

export interface McpSettings {
  readonly url: string;
  /** Creates the client when the first tool is used, so that a missing key is an error of the tool and not of the server. */
  readonly sandbank: () => Promise<Sandbank>;
  readonly isReadOnly: boolean;
  readonly version: string;
}

type Input = Readonly<Record<string, unknown>>;

const instructions = `Sandbank is a payment sandbox: no real money moves, so experiment freely. A typical sequence: create_payment, advance_payment with "to", list_events with resourceId, advance_clock to let days pass. When a webhook receiver misbehaves: list_deliveries, get_delivery, test_webhook. Amounts are integers in minor units (1250 is 12.50 EUR). An error names its code, the allowed actions and the fix; explain_error explains a code.`;

const documents = [
  { name: 'llms.txt', path: '/llms.txt', title: 'Sandbank for assistants', mimeType: 'text/plain' },
  {
    name: 'openapi.json',
    path: '/openapi.json',
    title: 'The API as OpenAPI 3.1',
    mimeType: 'application/json',
  },
] as const;
const documentMsMax = 10_000;

/** The tools and documents of one sandbox. They use the public API with the same checks. */
export function createMcpServer(settings: McpSettings): McpServer {
  const { version, isReadOnly } = settings;
  const server = new McpServer({ name: 'sandbank', title: 'Sandbank', version }, { instructions });
  for (const tool of operationTools) {
    const isRead = operationOf(tool.operation).verb === 'GET';
    if (isRead || !isReadOnly) addOperation(server, tool, isRead, settings);
  }
  addReadTools(server, settings);
  for (const { name, path, title, mimeType } of documents)
    server.registerResource(name, `sandbank://${name}`, { title, mimeType }, async (uri) => ({
      contents: [{ uri: uri.href, mimeType, text: await readDocument(settings.url, path) }],
    }));
  return server;
}

function addOperation(
  server: McpServer,
  tool: OperationTool,
  isRead: boolean,
  { sandbank }: McpSettings,
): void {
  const { name, title, description, operation, names = {}, timeoutMs } = tool;
  const schema = flatSchema(names, inputs[operation]?.schema as InputSchema | undefined);
  server.registerTool(
    name,
    {
      title,
      description,
      inputSchema: fromJsonSchema<Input>(schema as JsonSchemaType),
      outputSchema: fromJsonSchema(outputSchemaOf(operation)),
      annotations: {
        title,
        readOnlyHint: isRead,
        destructiveHint: tool.isDestructive === true,
        openWorldHint: tool.reachesOut === true,
      },
    },
    (input) =>
      answered(async () => {
        const pathNames = Object.keys(names);
        const fields = Object.fromEntries(
          Object.entries(input).filter(([field]) => !pathNames.includes(field)),
        );
        return call(await sandbank(), operation, {
          names: pathNames.map((name) => String(input[name])),
          argument: fields,
          options: { timeoutMs },
        });
      }),
  );
}

/**
 * The fields that every response has. The fields of each record are in the OpenAPI document, which is a resource: listed with each tool,
 * they would fill the context of an assistant.
 */
function outputSchemaOf(operation: string): JsonSchemaType {
  const { gives } = operationOf(operation);
  const text = { type: 'string' } as const;
  const envelope = { object: text, sandbox: { const: true }, status: text, requestId: text };
  const page = {
    data: { type: 'array', items: { type: 'object' } },
    hasMore: { type: 'boolean' },
    nextCursor: { type: ['string', 'null'], description: 'cursor of the next page' },
  } as const;
  return gives === 'page'
    ? { type: 'object', properties: { ...envelope, ...page }, required: ['object', ...Object.keys(page)] }
    : { type: 'object', properties: envelope, required: ['object', 'sandbox', 'status'] };
}

/** Tools that combine operations or read the catalogue. */
function addReadTools(server: McpServer, { sandbank }: McpSettings): void {
  const annotations = { readOnlyHint: true, destructiveHint: false, openWorldHint: false };
  server.registerTool(
    'list_scenarios',
    {
      title: 'List scenarios',
      description:
        'The values of "scenario" in create_payment and create_transfer, which control the simulated provider. Also lists the decline, return and failure codes.',
      inputSchema: fromJsonSchema<Input>({ type: 'object', properties: {}, additionalProperties: false }),
      annotations,
    },
    () =>
      answered(async () => {
        const { scenarios, declineCodes, transferScenarios, returnCodes, transferFailureCodes } = await (
          await sandbank()
        ).capabilities();
        return { scenarios, declineCodes, transferScenarios, returnCodes, transferFailureCodes };
      }),
  );
  server.registerTool(
    'explain_error',
    {
      title: 'Explain an error code',
      description:
        'What an error code of the API means, how to fix it, and whether a retry helps; such as invalid_state_transition. Without a code, all of them.',
      inputSchema: fromJsonSchema<Input>({
        type: 'object',
        properties: { code: { type: 'string', description: 'error.code of an error response' } },
        additionalProperties: false,
      }),
      annotations,
    },
    ({ code }) =>
      answered(async () => {
        const catalogue = await errorCatalogue();
        if (code === undefined) return { errors: catalogue };
        const found = catalogue.find((one) => one.code === code);
        if (found === undefined)
          throw new Error(
            `There is no error code ${JSON.stringify(code)}. Choose one of: ${catalogue.map((one) => one.code).join(', ')}.`,
          );
        return found;
      }),
  );
}

async function answered(work: () => Promise<unknown>): Promise<CallToolResult> {
  try {
    const value = await work();
    return {
      content: [{ type: 'text', text: JSON.stringify(value) }],
      structuredContent: value as Record<string, unknown>,
    };
  } catch (error) {
    return { isError: true, content: [{ type: 'text', text: refusalText(error) }] };
  }
}

async function readDocument(url: string, path: string): Promise<string> {
  const answer = await fetch(new URL(path, url), { signal: AbortSignal.timeout(documentMsMax) });
  if (!answer.ok) throw new Error(`${url}${path} answered ${answer.status}.`);
  return answer.text();
}
