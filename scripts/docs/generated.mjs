import { anchorOf, escapeHtml, withCode } from './html.mjs';

/**
 * The error catalogue, grouped by status. Every code has its own anchor, which `docUrl` of an error leads to.
 * @param {Record<string, { status: number, description: string, resolution: string, retryable: boolean, api: string }>} catalogue
 */
export function errorsContent(catalogue) {
  const codes = Object.entries(catalogue);
  const statuses = [...new Set(codes.map(([, { status }]) => status))].sort((a, b) => a - b);
  const tag = (/** @type {boolean | undefined} */ isShown, /** @type {string} */ label) =>
    isShown ? ` <span class="tag">${label}</span>` : '';
  const article = ([code, { description, resolution, retryable, api }]) =>
    `<article class="entry" id="${code}"><h3><code>${code}</code>${tag(retryable, 'retryable')}${tag(api === 'console', 'console only')}${tag(api === 'operator', 'operator API only')} ${anchorOf(code, code)}</h3><p>${withCode(description)} ${withCode(resolution)}</p></article>`;
  const titleOf = (/** @type {number} */ status) => `${status} ${titles[status] ?? ''}`.trim();
  const part = (/** @type {number} */ status) =>
    `<h2 id="status-${status}">${escapeHtml(titleOf(status))} ${anchorOf(`status-${status}`, `status ${status}`)}</h2>\n${codes
      .filter(([, entry]) => entry.status === status)
      .map(article)
      .join('\n')}\n`;
  const summary = 'All error codes of the API, by HTTP status, with the cause and the fix.';
  return {
    summary,
    html: `<h1>Errors</h1>\n<p>${summary} An error response has its code in <code>error.code</code>. The name and meaning of a code do not change, so your program can rely on it. <a href="/docs/error-handling">Handling errors</a> explains the other fields and what to do for each status.</p>\n${statuses.map(part).join('\n')}`,
    sections: [
      { id: '', depth: 1, title: 'Errors', text: summary },
      ...statuses.flatMap((status) => [
        { id: `status-${status}`, depth: 2, title: titleOf(status), text: '' },
        ...codes
          .filter(([, entry]) => entry.status === status)
          .map(([code, { description, resolution }]) => ({
            ...{ id: code, depth: 4, title: code, text: `${description} ${resolution}` },
            kind: 'Error code',
          })),
      ]),
    ],
  };
}

/** The reason phrases of RFC 9110, in sentence case. */
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
    413: 'Content too large',
    415: 'Unsupported media type',
    421: 'Misdirected request',
    422: 'Unprocessable content',
  },
  ...{ 429: 'Too many requests', 500: 'Internal server error', 503: 'Service unavailable' },
};

/** The route table as a page that works without scripts. @param {any[]} routes @param {(scope: any) => string[]} scopesNeeded */
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
    'All API operations on one page, with the scope that each requires; use it to find an operation quickly. The [API reference](/docs/reference) has the parameters, request bodies and responses. [`openapi.json`](/openapi.json) is the same contract in OpenAPI 3.1, for client generators.',
    ...tags.flatMap((tag) => [
      `## ${tag}`,
      [
        '| method | path | scope | description |',
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
      ? `- [OpenAPI 3.1 document](${server}/openapi.json): The complete contract; [readable version](${server}/docs/reference).`
      : `- [${title}](${server}/docs/${name}.md): ${documents.get(name)?.summary ?? ''}`;
  const operation = ({ method, path, scope, summary }) =>
    `- ${method} ${server}/_api/${path} (scope: ${scope === 'any' ? scope : scopesNeeded(scope).join(' and ')}): ${summary}`;
  return [
    '# Sandbank',
    '> A sandbox-only payment API that you run yourself: payments, refunds, disputes, customers, FX transfers and signed webhooks, with a clock that you control. No real money moves.',
    [
      'Send `Authorization: Bearer sbk_sandbox_...` with every request, and a unique `Idempotency-Key` with every POST.',
      'Amounts are integers in minor units with an ISO 4217 currency code. Unknown fields are rejected. Any 4xx response means that nothing changed.',
      `All pages below in one file: ${server}/llms-full.txt`,
    ].join('\n'),
    ...groups.flatMap(({ title, pages }) => [`## ${title}`, pages.map(page).join('\n')]),
    '## Operations',
    `${routes.map(operation).join('\n')}\n`,
  ].join('\n\n');
}
