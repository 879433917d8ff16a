import type { Command } from 'commander';
import type { Finding } from '../checks/check.ts';
import { declare } from '../declare.ts';
import type { Output } from '../output.ts';
import { exits } from '../problem.ts';

export function addDoctor(program: Command): void {
  declare<{ readonly data?: string }>(program, 'doctor', {
    summary: 'Diagnose problems and suggest fixes',
    details:
      'It checks the machine, database, server and API key, and changes nothing. It exits with 1 when a check fails; warnings do not count.',
    options: [['--data <dir>', 'data directory to check (SANDBANK_DATA_DIR, ./.sandbank)']],
    examples: [['doctor'], ['doctor --json | jq \'.findings[] | select(.outcome != "ok")\'']],
    run: async (session, { data }) => {
      const [machine, database, server] = await Promise.all([
        import('../checks/machine.ts'),
        import('../checks/database.ts'),
        import('../checks/server.ts'),
      ]);
      const context = { session, data };
      session.out.progress('Checking...');
      const reached = await server.checkServer(context);
      const findings = [
        machine.checkNode(),
        ...machine.checkBuild(),
        ...(await machine.checkDataDirectory(context)),
        machine.checkSecret(context),
        ...(await database.checkDatabase(context, reached.isReachable)),
        ...(await machine.checkPort(context, reached.isReachable)),
        ...reached.findings,
        ...(reached.isReachable ? await server.checkKey(context) : []),
      ];
      const isHealthy = findings.every(({ outcome }) => outcome !== 'fail');
      session.out.show(
        { object: 'diagnosis', sandbox: true, status: isHealthy ? 'healthy' : 'unhealthy', findings },
        () => text(session.out, findings),
      );
      return isHealthy ? exits.fine : exits.refused;
    },
  });
}

function text({ paint }: Output, findings: readonly Finding[]): string {
  const marks = { ok: paint.green('ok  '), warn: paint.yellow('warn'), fail: paint.red('fail') };
  const width = Math.max(...findings.map(({ name }) => name.length));
  return findings
    .flatMap(({ name, outcome, message, fix }) => [
      `${marks[outcome]}  ${name.padEnd(width)}  ${message}`,
      ...(fix === null ? [] : [`${' '.repeat(width + 8)}${paint.dim(fix)}`]),
    ])
    .join('\n');
}
