import type { Command } from 'commander';
import { declare } from '../declare.ts';
import { ownVersion } from '../version.ts';

export function addMcp(program: Command): void {
  declare<{ readonly readOnly?: true }>(program, 'mcp', {
    summary: 'Let coding assistants use the sandbox: an MCP server over the standard input and output',
    details: 'An assistant starts it by itself: docs/mcp.md says what to write into its settings.',
    options: [['--read-only', 'only tools that change nothing']],
    examples: [['mcp'], ['mcp --read-only --url https://sandbank.example.test']],
    run: async (session, { readOnly }) => {
      const [{ serveStdio }, { createMcpServer }] = await Promise.all([
        import('@modelcontextprotocol/server/stdio'),
        import('../mcp/server.ts'),
      ]);
      const { url } = session.settings;
      let client: ReturnType<typeof session.sandbank> | undefined;
      const sandbank = () => {
        client ??= session.sandbank();
        // Without a key it fails; the next call may find one.
        client.catch(() => {
          client = undefined;
        });
        return client;
      };
      serveStdio(
        () => createMcpServer({ url, sandbank, isReadOnly: readOnly === true, version: ownVersion() }),
        {
          onerror: (error) => session.out.say(error.message),
        },
      );
      session.out.say(`An MCP server for ${url} listens on the standard input.`);
      return undefined;
    },
  });
}
