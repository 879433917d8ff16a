import { isRecord } from './project.ts';

/** The new content of a file, or why it is not changed and which manual step remains. */
export type Merged =
  | { readonly content: string }
  | { readonly reason: string; readonly todo?: string | undefined };

export const dataFolder = '.sandbank/';
export const exists = 'exists, left unchanged';
const mcpName = 'sandbank';
const mcpServer = { command: 'npx', args: ['sandbank', 'mcp'] };

/** `.gitignore` with the data directory in it. */
export function mergeGitignore(text: string | undefined): Merged {
  const current = text ?? '';
  const isIgnored = current
    .split(/\r?\n/)
    .some((line) => /^\/?(\*\*\/)?\.sandbank(\/\*{0,2})?$/.test(line.trimEnd()));
  if (isIgnored) return { reason: exists };
  const lineEnd = lineEndOf(current);
  const isComplete = current === '' || current.endsWith('\n');
  return { content: `${current}${isComplete ? '' : lineEnd}${dataFolder}${lineEnd}` };
}

/** `.mcp.json` with the MCP server of Sandbank in it. Other servers and fields stay as they are. */
export function mergeMcp(text: string | undefined): Merged {
  const settings = text === undefined ? {} : parse(text);
  const servers = isRecord(settings) ? (settings.mcpServers ?? {}) : undefined;
  if (!isRecord(settings) || !isRecord(servers))
    return {
      reason: 'is not a JSON object with "mcpServers", left unchanged',
      todo: JSON.stringify({ mcpServers: { [mcpName]: mcpServer } }),
    };
  if (Object.hasOwn(servers, mcpName)) return { reason: exists };
  const merged = { ...settings, mcpServers: { ...servers, [mcpName]: mcpServer } };
  const json = `${JSON.stringify(merged, null, indentOf(text))}\n`;
  return { content: json.replaceAll('\n', lineEndOf(text ?? '')) };
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function lineEndOf(text: string): string {
  return text.includes('\r\n') ? '\r\n' : '\n';
}

function indentOf(text: string | undefined): string {
  return /^[ \t]+(?=")/m.exec(text ?? '')?.[0] ?? '  ';
}
