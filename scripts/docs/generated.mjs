import { escapeHtml, withCode } from './html.mjs';

/** @param {Record<string, { status: number, what: string, mend: string, retryable: boolean, isOfConsole?: true, isOfOperator?: true }>} catalogue */
export function errorsContent(catalogue) {
  const codes = Object.entries(catalogue);
  const statuses = [...new Set(codes.map(([, { status }]) => status))].sort((a, b) => a - b);
  const article = ([code, { what, mend, retryable, isOfConsole, isOfOperator }]) =>
    `<article class="entry" id="${code}"><h3><code>${code}</code>${retryable ? ' <span class="tag">may be retried</span>' : ''}${isOfConsole ? ' <span class="tag">only in the console</span>' : ''}${isOfOperator ? ' <span class="tag">only for the operator</span>' : ''} <a class="anchor" href="#${code}" aria-label="Link to ${code}">#</a></h3><p>${withCode(what)} ${withCode(mend)}</p></article>`;
  const part = (status) =>
    `<h2 id="status-${status}">${status} ${escapeHtml(titles[status] ?? '')} <a class="anchor" href="#status-${status}" aria-label="Link to status ${status}">#</a></h2>\n${codes
      .filter(([, entry]) => entry.status === status)
      .map(article)
      .join('\n')}\n`;
  return {
    summary: 'Every error code: what happened, and how to mend it.',
    html: `<h1>Errors</h1>\n<p>Every code that an answer can carry in <code>error.code</code>: what happened, and how to mend it. A code keeps its name and its meaning. <a href="/docs/error-handling">Handling errors</a> says what a program does about them.</p>\n${statuses.map(part).join('\n')}`,
    sections: [
      { id: '', depth: 1, title: 'Errors', text: 'Every code that an answer can carry in error.code.' },
      ...statuses.flatMap((status) => [
        { id: `status-${status}`, depth: 2, title: `${status} ${titles[status] ?? ''}`.trim(), text: '' },
        ...codes
          .filter(([, entry]) => entry.status === status)
          .map(([code, { what, mend }]) => ({ id: code, depth: 4, title: code, text: `${what} ${mend}` })),
      ]),
    ],
  };
}

const titles = {
  ...{
    400: 'Bad request',
    401: 'Unauthorized',
    403: 'Forbidden',
    404: 'Not found',
    405: 'Method not allowed',
  },
  ...{
    409: 'Conflict',
    410: 'Gone',
    413: 'Too large',
    415: 'Unsupported media type',
    421: 'Wrong host',
    422: 'Not possible',
  },
  ...{ 429: 'Too many requests', 500: 'Our mistake', 503: 'Not now' },
};

/** The route table as a page that needs no script. @param {any[]} routes @param {(scope: any) => string[]} scopesNeeded */
export function operationsMarkdown(routes, scopesNeeded) {
  const tags = [...new Set(routes.map(({ tag }) => tag))];
  const cell = (/** @type {string} */ text) => text.replaceAll('|', '\\|');
  const scopes = (/** @type {any} */ scope) =>
    scope === 'any'
      ? 'any key'
      : scopesNeeded(scope)
          .map((name) => `\`${name}\``)
          .join(' and ');
  return [
    '# Operations',
    'Every operation of the API on one page: method, path, the scope that a key needs, and what it does. The [API reference](/docs/reference) has their parameters, bodies and answers; [`openapi.json`](/openapi.json) is the same contract in OpenAPI 3.1, for client generators.',
    ...tags.flatMap((tag) => [
      `## ${tag}`,
      [
        '| method | path | scope | what it does |',
        '|---|---|---|---|',
        ...routes
          .filter((route) => route.tag === tag)
          .map(
            ({ method, path, scope, summary }) =>
              `| \`${method}\` | \`/_api/${path}\` | ${scopes(scope)} | ${cell(summary)} |`,
          ),
      ].join('\n'),
    ]),
    '',
  ].join('\n\n');
}

/** @param {{ title: string, pages: { name: string, title: string }[] }[]} groups @param {Map<string, { summary: string }>} documents @param {any[]} routes @param {(scope: any) => string[]} scopesNeeded */
export function llmsText(groups, documents, routes, scopesNeeded) {
  const server = 'http://127.0.0.1:4000';
  const page = ({ name, title }) =>
    name === 'reference'
      ? `- [OpenAPI 3.1 document](${server}/openapi.json): The whole contract; [shown for people](${server}/docs/reference).`
      : `- [${title}](${server}/docs/${name}.md): ${documents.get(name)?.summary ?? ''}`;
  const operation = ({ method, path, scope, summary }) =>
    `- ${method} ${server}/_api/${path} (scope: ${scope === 'any' ? scope : scopesNeeded(scope).join(' and ')}): ${summary}`;
  return [
    '# Sandbank',
    '> A sandbox-only payment API that you run yourself: payments, refunds, disputes, customers, FX transfers and signed webhooks, with a clock that you move. No real money moves.',
    [
      'Send `Authorization: Bearer sbk_sandbox_...` with every request, and a unique `Idempotency-Key` with every POST.',
      'Amounts are integers in minor units with an ISO 4217 currency code. Unknown fields are refused. Any 4xx answer means that nothing changed.',
      `All pages below in one file: ${server}/llms-full.txt`,
    ].join('\n'),
    ...groups.flatMap(({ title, pages }) => [`## ${title}`, pages.map(page).join('\n')]),
    '## Operations',
    `${routes.map(operation).join('\n')}\n`,
  ].join('\n\n');
}
