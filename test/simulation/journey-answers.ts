/** Whether what clients were told is what was done: nothing acknowledged is lost, nothing done twice, nothing made up. */
import type { App, Told } from './journey-client.ts';
import { differences } from './journey-reports.ts';
import { grouped, type Move, type Rows } from './journey-rows.ts';

export function auditAnswers(rows: Rows, told: readonly Told[]): readonly string[] {
  return [
    ...auditKept(rows, told),
    ...auditMoves(rows, told),
    ...auditEvents(rows),
    ...auditHappened(rows, told),
  ];
}

const isKept = ({ status }: Told): boolean => status < 300 || status === 409 || status === 422;
const isAccepted = ({ status }: Told): boolean => status < 300;

/** Every final answer is kept under its key, word for word, and no other is. */
function auditKept(rows: Rows, told: readonly Told[]): readonly string[] {
  const idOf = appIds(rows);
  return differences(
    'the kept answers',
    rows.kept.map(({ app, key, status, body }) => `${app} ${key} ${status} ${body}`),
    told.filter(isKept).map(({ app, key, status, text }) => `${idOf(app)} ${key} ${status} ${text}`),
  );
}

/** Every accepted command has one row in the audit trail, and its record the move that the answer shows. */
function auditMoves(rows: Rows, told: readonly Told[]): readonly string[] {
  const findings: string[] = [];
  const moves = new Map(rows.moves.map((move) => [`${move.id} ${move.version}`, move]));
  const accepted = grouped(
    rows.audits.filter(({ outcome }) => outcome === 'accepted'),
    ({ request }) => request,
  );
  for (const command of told.filter(isAccepted)) {
    const { answer, path } = command;
    const say = (words: string) => findings.push(`${path} ${command.key}: ${words}`);
    if (answer.object === 'clock') continue;
    const trail = accepted.get(answer.requestId) ?? [];
    if (trail.length !== 1) say(`it has ${trail.length} rows in the audit trail`);
    const move = moves.get(`${answer.id} ${answer.version}`);
    const is = move && [move.request, move.to, move.at].join(' ');
    const wanted = [answer.requestId, answer.status, Date.parse(answer.updatedAt)].join(' ');
    if (is !== wanted) say(`it was told ${wanted}, and the history says ${is}`);
  }
  return findings;
}

/** One event for each move, at its time. */
function auditEvents(rows: Rows): readonly string[] {
  const line = (parts: readonly unknown[]) => parts.join(' ');
  return differences(
    'the events',
    rows.events.map(({ id, record, sequence, request, at, data }) =>
      line([id, record, sequence, request, at, data.status, data.version]),
    ),
    rows.moves
      .filter(({ resource }) => resource !== 'clock')
      .map(({ event, id, version, request, at, to }) => line([event, id, version, request, at, to, version])),
  );
}

/** What an advance says that it brought about is what the history has of it, in order. */
function auditHappened(rows: Rows, told: readonly Told[]): readonly string[] {
  const findings: string[] = [];
  const made = grouped(rows.moves, ({ request }) => request);
  const types = new Map(rows.events.map(({ id, type }) => [id, type]));
  for (const { answer, path, status } of told) {
    if (path !== 'clock/advance' || status >= 300) continue;
    const happened = (answer.happened as readonly Readonly<Record<string, string>>[]).filter(
      // Attempts of deliveries are looked at where their receivers are.
      ({ type }) => type !== 'delivery',
    );
    const own = (made.get(answer.requestId) ?? []).filter(({ resource }) => resource !== 'clock');
    const what = `what ${answer.requestId} brought about`;
    const moveLine = ({ at, resource, id, action, from, to, event }: Move) =>
      [new Date(at).toISOString(), resource, id, action, from ?? '', to, types.get(event ?? '') ?? ''].join(
        ' ',
      );
    const toldLine = (row: Readonly<Record<string, string>>) =>
      [row.at, row.type, row.id, row.action, row.from ?? '', row.to, row.event].join(' ');
    findings.push(...differences(what, happened.map(toldLine), own.map(moveLine)));
    // In order of time, and of each record in the order of its versions.
    const early = happened.findIndex(({ at = '' }, i) => i > 0 && at < (happened[i - 1]?.at ?? ''));
    if (early > 0)
      findings.push(
        `${what} is not told in order of time: ${[early - 1, early].map((i) => toldLine(happened[i] ?? {})).join(', then ')}`,
      );
    const inTurn = grouped(
      happened.map((row) => ({ id: row.id ?? '', line: toldLine(row) })),
      ({ id }) => id,
    );
    for (const [id, lines] of inTurn) {
      const turns = own.filter((move) => move.id === id).map(moveLine);
      if (lines.map(({ line }) => line).join() !== turns.join())
        findings.push(`${what} to ${id} is told out of turn`);
    }
  }
  return findings;
}

export function appIds(rows: Rows): (app: App) => string {
  const ids = new Map(rows.apps.map(({ organization, name, id }) => [`${organization} ${name}`, id]));
  return ({ organization, name }) => ids.get(`${organization} ${name}`) ?? '';
}
