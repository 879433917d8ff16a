import { assert } from '../kernel/assert.ts';
import type { AnyResource } from '../kernel/command.ts';
import { declineCodes, declines, returnReasons, transferFailures } from '../kernel/decline.ts';
import { type ErrorCode, errorCatalogue } from '../kernel/errors.ts';
import type { EventType } from '../kernel/event.ts';
import { emittedEvents, finalStates, lifecycleMoves } from '../kernel/machine.ts';
import {
  magicAmounts,
  scenarioDescriptions,
  testCards,
  transferScenarioDescriptions,
} from '../kernel/scenario.ts';

/** A Markdown reference page, generated from the tables that the server runs on. scripts/docs.mjs builds `/docs` from it. */
export interface Reference {
  readonly title: string;
  readonly source: string;
  readonly introduction: string;
  readonly sections: readonly Section[];
}

interface Section {
  readonly title: string;
  readonly text: string;
  /** Mermaid source: code hosts draw it, and so does the build of `/docs`. */
  readonly diagram?: string;
  readonly head: readonly string[];
  readonly rows: readonly (readonly string[])[];
  readonly example?: Example;
}

interface Example {
  readonly text: string;
  readonly json: unknown;
}

const code = (text: string): string => `\`${text}\``;
const sentenceCase = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);
const codes = (texts: readonly string[]): string => texts.map(code).join(', ');

export function statesReference(resources: readonly AnyResource[]): Reference {
  return {
    title: 'States',
    source: 'the machines in `src/resources`',
    introduction:
      'The states of each record and the transitions between them; use this page to look up which actions a state allows. The server enforces these tables, and `GET developer_api_state_machines` returns them as JSON. An action that the current state does not allow returns `409 invalid_state_transition` with the current status and the `allowedActions`, and nothing changes.',
    sections: resources.filter(({ emitsEvents }) => emitsEvents).map(machineSection),
  };
}

function machineSection({ name, machine }: AnyResource): Section {
  const final = finalStates(machine);
  return {
    title: `${sentenceCase(name)} states`,
    text: [
      final.length === 0 ? '' : `Final states: ${codes(final)}.`,
      machine.goal === undefined ? '' : `Goal: ${code(machine.goal)}.`,
      machine.setbacks === undefined ? '' : `Off the main path: ${codes(machine.setbacks)}.`,
    ]
      .filter((line) => line !== '')
      .join('\n\n'),
    diagram: diagramOf(machine),
    head: ['action', 'from', 'to', 'event', 'condition'],
    rows: lifecycleMoves(machine).map((move) => [
      code(move.action),
      codes(move.from),
      move.stays ? 'unchanged' : codes(move.to),
      codes(emittedEvents(move).map((event) => `${name}.${event}`)),
      move.triggeredBy === undefined ? (move.when?.description ?? '') : `triggered by a ${move.triggeredBy}`,
    ]),
  };
}

/**
 * One arrow for each pair of states, labelled with its actions. Actions that do not change the state are only in the table.
 * @public The documentation build imports it from the compiled server.
 */
export function diagramOf({ moves }: AnyResource['machine']): string {
  const arrows = new Map<string, Set<string>>();
  for (const { action, from, to, triggeredBy } of moves.filter(({ stays }) => !stays)) {
    const label = triggeredBy === undefined ? action : `${action}*`;
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
      'All event types that Sandbank sends to [webhooks](webhooks.md) and [event streams](webhooks.md#streaming-events); use this page to choose the types that an endpoint subscribes to. An endpoint subscribes to `*`, to all events of one resource such as `payment.*`, or to individual types. `data` is the record after the transition, as the API returns it. `sequence` counts the events of one record: if events arrive out of order, the higher number is the later event. `GET developer_api_capabilities` has an example of every type and the JSON Schema of every `data`; `openapi.json` has both under `webhooks`.',
    sections: names.map((name) => eventsSection(catalogue.filter(({ resource }) => resource === name))),
  };
}

function eventsSection(eventTypes: readonly EventType[]): Section {
  const [first] = eventTypes;
  assert(first, 'a section needs at least one event type');
  return {
    title: `${sentenceCase(first.resource)} events`,
    text: '',
    head: ['type', 'meaning'],
    rows: eventTypes.map(({ type, description }) => [code(type), description]),
    example: { text: `Example: ${code(first.type)}, as a receiver gets it:`, json: first.payload },
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
  const row = (scenario: string, description: string) => {
    const { cards = [], amounts = [] } = aliases.get(scenario) ?? {};
    return [code(scenario), description, codes(cards), codes(amounts)];
  };
  const head = ['scenario', 'effect', 'test card', 'amount'];
  return {
    title: 'Scenarios',
    source: '`src/kernel/scenario.ts` and `src/kernel/decline.ts`',
    introduction:
      'A scenario defines what the simulated provider does with a payment or transfer; use it to test declines, 3-D Secure, disputes and returns. Set `scenario` when you create the record. For a payment, a list applies to successive attempts: with `["decline:insufficient_funds", "approve"]` the first attempt is declined, and the last entry applies to all further attempts. `POST developer_api_payments/{id}/advance` without a body runs the next step. Without a `scenario`, a test card in `paymentMethod.number` or a magic amount selects one; other card numbers are rejected.',
    sections: [
      {
        title: 'Payment scenarios',
        text: '',
        head,
        rows: Object.entries(scenarioDescriptions).map(([scenario, description]) =>
          row(scenario, description),
        ),
      },
      {
        title: 'Declines',
        text: 'The call succeeds and the payment becomes `failed`, with `failure.code`, a `failure.message` for the customer at the checkout, and `failure.retryable`. After a soft decline, the action `retry` starts another attempt, up to three in total.',
        head: ['scenario', 'message', 'kind', 'test card', 'amount'],
        rows: declineCodes.map((declineCode) => {
          const { description, isSoft } = declines[declineCode];
          const [scenario = '', message = '', cards = '', amounts = ''] = row(
            `decline:${declineCode}`,
            description,
          );
          return [scenario, message, isSoft ? 'soft' : 'hard', cards, amounts];
        }),
      },
      ...transferSections(),
    ],
  };
}

function transferSections(): readonly Section[] {
  const head = ['scenario', 'effect'];
  const rowsOf = (prefix: string, reasons: Readonly<Record<string, string>>) =>
    Object.entries(reasons).map(([reason, description]) => [code(`${prefix}:${reason}`), description]);
  return [
    {
      title: 'Transfer scenarios',
      text: 'Transfers have their own scenarios. In a list, each entry applies to one time that the transfer is sent: with `["return:account_closed", "approve"]` the transfer is returned first, and completes when it is sent again.',
      head,
      rows: Object.entries(transferScenarioDescriptions).map(([scenario, description]) => [
        code(scenario),
        description,
      ]),
    },
    {
      title: 'Returned transfers',
      text: 'A sent transfer becomes `returned`, with the code in `returnCode`. Any other code of up to 40 letters, digits and underscores is accepted as well.',
      head,
      rows: rowsOf('return', returnReasons),
    },
    {
      title: 'Failed transfers',
      text: 'A converted transfer becomes `failed` instead of being sent, with `failure.code`. Other codes are accepted here as well.',
      head,
      rows: rowsOf('fail', transferFailures),
    },
  ];
}

export function toMarkdown({ title, source, introduction, sections }: Reference): string {
  const parts = sections.map(({ title: name, text, diagram, head, rows, example }) =>
    [
      `## ${name}`,
      ...(text === '' ? [] : [text]),
      ...(diagram === undefined ? [] : [`\`\`\`mermaid\n${diagram}\n\`\`\``]),
      ...(/\w\*/.test(diagram ?? '') ? ['A star marks an action that another record triggers.'] : []),
      [
        `| ${head.join(' | ')} |`,
        `|${'---|'.repeat(head.length)}`,
        ...rows.map((cells) => `| ${cells.join(' | ')} |`),
      ].join('\n'),
      ...(example === undefined ? [] : [example.text, `\`\`\`json\n${indented(example)}\n\`\`\``]),
    ].join('\n\n'),
  );
  const footer = `This page is generated from ${source} by \`npm run golden\`.`;
  return `${[`# ${title}`, introduction, ...parts, footer].join('\n\n')}\n`;
}

function indented({ json }: Example): string {
  return JSON.stringify(json, null, 2);
}

/** The error catalogue as Markdown, for docs/errors.md. */
export function errorsMarkdown(): string {
  const rows = (Object.keys(errorCatalogue) as ErrorCode[]).map((code) => {
    const { status, description, resolution, retryable, api } = errorCatalogue[code];
    const only = api === 'public' ? '' : ` (${api})`;
    return `| \`${code}\`${only} | ${status} | ${description} | ${resolution} | ${retryable ? 'yes' : 'no'} |`;
  });
  return [
    '# Errors',
    '',
    'All error codes of the API, with the cause and the fix. An error response has its code in `error.code`; the name and meaning of a',
    'code do not change, so your program can rely on it. [Handling errors](error-handling.md) explains the other fields.',
    '',
    '| code | status | cause | fix | retryable |',
    '|---|---|---|---|---|',
    ...rows,
    '',
    'This page is generated from the catalogue in `src/kernel/errors.ts` by `npm run golden`.',
    '',
  ].join('\n');
}
