import { assert } from '../kernel/assert.ts';
import type { AnyResource } from '../kernel/command.ts';
import { declineCodes, declines } from '../kernel/decline.ts';
import { type ErrorCode, errorCatalogue } from '../kernel/errors.ts';
import type { EventType } from '../kernel/event-type.ts';
import { finalStates, toldNames } from '../kernel/machine.ts';
import { returnReasons, transferFailures } from '../kernel/return.ts';
import { magicAmounts, scenarioWords, testCards, transferScenarioWords } from '../kernel/scenario.ts';

/** Reference pages made of the tables that the server runs on, as Markdown; scripts/docs.mjs makes the pages of `/docs` of it. */
export interface Reference {
  readonly title: string;
  readonly source: string;
  readonly introduction: string;
  readonly sections: readonly Section[];
}

interface Section {
  readonly title: string;
  readonly words: string;
  /** Mermaid source; Markdown readers draw it, and so does the build of `/docs`. */
  readonly diagram?: string;
  readonly head: readonly string[];
  readonly rows: readonly (readonly string[])[];
  readonly example?: Example;
}

interface Example {
  readonly words: string;
  readonly json: unknown;
}

const code = (text: string): string => `\`${text}\``;
const codes = (texts: readonly string[]): string => texts.map(code).join(', ');

export function statesReference(resources: readonly AnyResource[]): Reference {
  return {
    title: 'States',
    source: 'the machines in `src/resources`',
    introduction:
      'What each record can be, and what leads from where to where. The server decides by these very tables, and serves them as data at `developer_api_state_machines`. A move from any other state is `invalid_state_transition`, which names the status and the `allowedActions`; nothing changes then.',
    sections: resources.filter(({ emitsEvents }) => emitsEvents).map(machineSection),
  };
}

function machineSection({ name, machine }: AnyResource): Section {
  const final = finalStates(machine);
  return {
    title: `A ${name}`,
    words: final.length === 0 ? '' : `Final: ${codes(final)}.`,
    diagram: diagramOf(machine),
    head: ['action', 'from', 'to', 'event', 'only when'],
    rows: machine.moves.map((move) => [
      code(move.action),
      codes(move.from),
      move.stays ? 'stays' : codes(move.to),
      codes(toldNames(move).map((told) => `${name}.${told}`)),
      move.by === undefined ? (move.when?.words ?? '') : `a ${move.by} brings it along`,
    ]),
  };
}

/** One arrow for each pair of states, labelled with all that leads along it. What stays where it is stands in the table. */
export function diagramOf({ moves }: AnyResource['machine']): string {
  const arrows = new Map<string, Set<string>>();
  for (const { action, from, to, by } of moves.filter(({ stays }) => !stays)) {
    const label = by === undefined ? action : `${action}*`;
    for (const start of from.length === 0 ? ['[*]'] : from) {
      for (const end of to) {
        const arrow = `${start} --> ${end}`;
        arrows.set(arrow, (arrows.get(arrow) ?? new Set()).add(label));
      }
    }
  }
  return [
    'stateDiagram-v2',
    ...[...arrows].map(([arrow, labels]) => `  ${arrow}: ${[...labels].join(', ')}`),
  ].join('\n');
}

export function eventsReference(catalogue: readonly EventType[]): Reference {
  const names = [...new Set(catalogue.map(({ resource }) => resource))];
  return {
    title: 'Events',
    source: 'the machines in `src/resources`',
    introduction:
      'What webhooks are told. An endpoint asks for `*`, for all events of one kind such as `payment.*`, or for single types. `data` is the record as it was after the move, as its own route shows it, and `sequence` is its version: when events overtake each other, the higher one is the later one. `developer_api_capabilities` has an example of every type and the JSON Schema of every `data`; `openapi.json` has both under `webhooks`.',
    sections: names.map((name) => eventsSection(catalogue.filter(({ resource }) => resource === name))),
  };
}

function eventsSection(told: readonly EventType[]): Section {
  const [first] = told;
  assert(first, 'a section is about a resource with events');
  return {
    title: `Of a ${first.resource}`,
    words: '',
    head: ['type', 'what happened'],
    rows: told.map(({ type, description }) => [code(type), description]),
    example: { words: `${code(first.type)}, as a receiver gets it:`, json: first.payload },
  };
}

export function scenariosReference(): Reference {
  const aliases = new Map<string, { cards: string[]; amounts: string[] }>();
  const aliasOf = (scenario: string) => {
    const alias = aliases.get(scenario) ?? { cards: [], amounts: [] };
    aliases.set(scenario, alias);
    return alias;
  };
  for (const [card, scenario] of Object.entries(testCards)) aliasOf(scenario).cards.push(card);
  for (const [amount, scenario] of magicAmounts) aliasOf(scenario).amounts.push(amount.toString());
  const row = (scenario: string, words: string) => {
    const { cards = [], amounts = [] } = aliases.get(scenario) ?? {};
    return [code(scenario), words, codes(cards), codes(amounts)];
  };
  const head = ['scenario', 'what happens', 'test card', 'amount'];
  return {
    title: 'Scenarios',
    source: '`src/kernel/scenario.ts`, `src/kernel/decline.ts` and `src/kernel/return.ts`',
    introduction:
      'A scenario says what the simulated provider will do with a payment. Name it in `scenario` when you create the payment, or give a list for successive attempts: `["decline:insufficient_funds", "approve"]`; its last entry holds for all attempts that follow. `POST developer_api_payments/{id}/advance` without a body plays the next step. Without a `scenario`, a test card in `paymentMethod.number` or a magic amount stands for one; other card numbers are refused.',
    sections: [
      {
        title: 'What the provider does',
        words: '',
        head,
        rows: Object.entries(scenarioWords).map(([scenario, words]) => row(scenario, words)),
      },
      {
        title: 'Declines',
        words:
          'The call succeeds and the payment becomes `failed`, with `failure.code`, a `failure.message` for the person at the checkout, and `failure.retryable`. After a soft decline the action `retry` opens another attempt, up to three in all.',
        head: ['scenario', 'what happens', 'soft', 'test card', 'amount'],
        rows: declineCodes.map((declineCode) => {
          const { words, isSoft } = declines[declineCode];
          const [scenario = '', said = '', cards = '', amounts = ''] = row(`decline:${declineCode}`, words);
          return [scenario, said, isSoft ? 'soft' : 'hard', cards, amounts];
        }),
      },
      ...transferSections(),
    ],
  };
}

function transferSections(): readonly Section[] {
  const head = ['scenario', 'what happens'];
  const known = (prefix: string, reasons: Readonly<Record<string, string>>) =>
    Object.entries(reasons).map(([reason, words]) => [code(`${prefix}:${reason}`), words]);
  return [
    {
      title: 'What the provider does with a transfer',
      words:
        'Transfers have scenarios of their own. A list is for the successive times that a transfer is sent: after `["return:account_closed", "approve"]` it comes back once, and arrives when it is sent again.',
      head,
      rows: Object.entries(transferScenarioWords).map(([scenario, words]) => [code(scenario), words]),
    },
    {
      title: 'Transfers that come back',
      words:
        'What was sent becomes `returned`, with the code in `returnCode`. Any other code of letters, digits and underscores, up to 40, is taken as well.',
      head,
      rows: known('return', returnReasons),
    },
    {
      title: 'Transfers that fail',
      words:
        'What was converted becomes `failed` instead of being sent, with `failure.code`. Other codes are taken here, too.',
      head,
      rows: known('fail', transferFailures),
    },
  ];
}

export function toMarkdown({ title, source, introduction, sections }: Reference): string {
  const parts = sections.map(({ title: name, words, diagram, head, rows, example }) =>
    [
      `## ${name}`,
      ...(words === '' ? [] : [words]),
      ...(diagram === undefined ? [] : [`\`\`\`mermaid\n${diagram}\n\`\`\``]),
      ...(/\w\*/.test(diagram ?? '') ? ['A star marks what another record brings along.'] : []),
      [
        `| ${head.join(' | ')} |`,
        `|${'---|'.repeat(head.length)}`,
        ...rows.map((cells) => `| ${cells.join(' | ')} |`),
      ].join('\n'),
      ...(example === undefined ? [] : [example.words, `\`\`\`json\n${indented(example)}\n\`\`\``]),
    ].join('\n\n'),
  );
  const made = `This page is made from ${source} by \`npm run golden\`.`;
  return `${[`# ${title}`, introduction, ...parts, made].join('\n\n')}\n`;
}

function indented({ json }: Example): string {
  return JSON.stringify(json, null, 2);
}

/** The catalogue as Markdown, kept in docs/. */
export function errorsMarkdown(): string {
  const rows = (Object.keys(errorCatalogue) as ErrorCode[]).map((code) => {
    const { status, what, mend, retryable, isOfConsole, isOfOperator } = errorCatalogue[code];
    const whose = isOfOperator ? ' (operator)' : isOfConsole ? ' (console)' : '';
    return `| \`${code}\`${whose} | ${status} | ${what} | ${mend} | ${retryable ? 'yes' : 'no'} |`;
  });
  return [
    '# Errors',
    '',
    'Every refusal carries one of these codes in `error.code`. A code keeps its name and its meaning, so branch on it.',
    '[Handling errors](error-handling.md) has the other fields, and what to do about each kind.',
    '',
    '| code | status | what happened | how to mend it | retry helps |',
    '|---|---|---|---|---|',
    ...rows,
    '',
    'This page is made from the catalogue in `src/kernel/errors.ts` by `npm run golden`.',
    '',
  ].join('\n');
}
