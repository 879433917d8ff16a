import type { Command } from 'commander';
import { declare } from '../declare.ts';
import { ownVersion } from '../version.ts';

export function addMcp(program: Command): void {
  declare<{ readonly readOnly?: true }>(program, 'mcp', {
    summary: 'Run an MCP server for coding assistants',
    details:
      'It uses standard input and output. Assistants start it themselves: docs/mcp.md shows their configuration.',
    options: [['--read-only', 'offer only tools that do not change anything']],
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
      session.out.say(`MCP server for ${url} listening on standard input.`);
      return undefined;
    },
  });
}
