import { type ErrorCode, errorCatalogue } from '../kernel/errors.ts';
import type { Route } from '../kernel/route.ts';
import { scopesNeeded } from '../kernel/scopes.ts';
import { apiVersion } from '../kernel/version.ts';

/** Small pages without scripts: they read in any browser and leave nothing to attack. */
const style = `
:root{color-scheme:light dark;--ink:#1b1f24;--paper:#fff;--soft:#f4f5f7;--line:#d8dce1;--quiet:#59636e;--accent:#0b5cad}
@media (prefers-color-scheme:dark){:root{--ink:#e8eaed;--paper:#14171a;--soft:#1d2125;--line:#343a41;--quiet:#a3acb6;--accent:#7db8f5}}
*{box-sizing:border-box}body{margin:0;background:var(--paper);color:var(--ink);font:16px/1.55 system-ui,sans-serif}
main{max-width:60rem;margin:0 auto;padding:2rem 1.25rem 4rem}h1{font-size:1.7rem;margin:.2rem 0 .6rem}h2{font-size:1.15rem;margin:2.2rem 0 .6rem}
p{max-width:44rem}a{color:var(--accent)}nav a{margin-right:1rem}code,pre{font:13.5px/1.5 ui-monospace,monospace}
code{background:var(--soft);padding:.1rem .3rem;border-radius:4px;overflow-wrap:anywhere}pre{background:var(--soft);border:1px solid var(--line);border-radius:8px;padding:.9rem 1rem;overflow-x:auto}pre code{background:none;padding:0}
.wide{overflow-x:auto}table{border-collapse:collapse;width:100%}th,td{text-align:left;vertical-align:top;padding:.5rem .8rem .5rem 0;border-bottom:1px solid var(--line)}td code{white-space:nowrap}th{color:var(--quiet);font-weight:600;font-size:.85rem}
article{border-top:1px solid var(--line);padding:.9rem 0}article h3{margin:0;font-size:1rem}article p{margin:.3rem 0 0}.status{color:var(--quiet);font-weight:400}
article:target{background:var(--soft);outline:.6rem solid var(--soft)}`;

export function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (sign) => `&#${sign.charCodeAt(0)};`);
}

/** Text with `code` in back-ticks, as the catalogue writes it. */
export function marked(text: string): string {
  return escapeHtml(text).replace(/`([^`]+)`/g, '<code>$1</code>');
}

export function page(title: string, content: string): string {
  return `<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width,initial-scale=1"><title>${escapeHtml(title)} · Sandbank</title><style>${style}</style></head><body><main><nav aria-label="Sandbank"><a href="/docs">API</a><a href="/docs/states">States</a><a href="/docs/events">Events</a><a href="/docs/scenarios">Scenarios</a><a href="/docs/errors">Errors</a><a href="/openapi.json">OpenAPI</a><a href="/console">Console</a></nav>${content}</main></body></html>`;
}

export function docsPage(routes: readonly Route[], serverUrl: string): string {
  const rows = routes.map(
    ({ method, path, scope, summary }) =>
      `<tr><td><code>${method}</code></td><td><code>/_api/${escapeHtml(path)}</code></td><td>${
        scope === 'any'
          ? 'any key'
          : scopesNeeded(scope)
              .map((name) => `<code>${name}</code>`)
              .join(' ')
      }</td><td>${marked(summary)}</td></tr>`,
  );
  const body = `{"amount":1250,"currency":"EUR"}`;
  return page(
    'API',
    `<h1>Sandbank API</h1><p>A payment sandbox. No real money moves. Version <code>${apiVersion}</code>; the whole contract is in <a href="/openapi.json">openapi.json</a> (OpenAPI 3.1), which any client generator reads.</p>
<h2>A first payment</h2><pre><code>curl ${escapeHtml(serverUrl)}/_api/developer_api_payments \\
  -H "Authorization: Bearer $SANDBANK_KEY" \\
  -H "Idempotency-Key: order-1" \\
  -H "Content-Type: application/json" \\
  -d '${escapeHtml(body)}'</code></pre>
<h2>Operations</h2><div class="wide"><table><thead><tr><th>Method</th><th>Path</th><th>Scope</th><th>What it does</th></tr></thead><tbody>${rows.join('')}</tbody></table></div>
<h2>Rules that hold everywhere</h2>
<p>Every body carries <code>object</code>, <code>sandbox</code>, <code>requestId</code> and <code>status</code>. Amounts are integers in minor units. Every <code>POST</code> needs an <code>Idempotency-Key</code>; the same key with the same request returns the first answer again, byte for byte, with <code>Idempotent-Replayed: true</code>. Unknown fields are refused. Lists are newest first and are paged with <code>limit</code> and <code>cursor</code>. Any 4xx answer means that nothing changed.</p>`,
  );
}

export function errorsPage(): string {
  const entries = (Object.keys(errorCatalogue) as ErrorCode[]).map((code) => {
    const { status, what, mend, retryable, isOfConsole, isOfOperator } = errorCatalogue[code];
    const whose = isOfOperator ? ' · only for the operator' : isOfConsole ? ' · only in the console' : '';
    return `<article id="${code}"><h3><code>${code}</code> <span class="status">${status}${retryable ? ' · may be retried' : ''}${whose}</span></h3><p>${marked(what)} ${marked(mend)}</p></article>`;
  });
  return page(
    'Errors',
    `<h1>Errors</h1><p>An error says its <code>code</code>, a <code>message</code> for this case, where it can the <code>param</code> at fault, and whether sending the same request again can help.</p>${entries.join('')}`,
  );
}

export function llmsText(routes: readonly Route[], serverUrl: string): string {
  const lines = routes.map(
    ({ method, path, scope, summary }) =>
      `- ${method} ${serverUrl}/_api/${path} (scope: ${scope === 'any' ? scope : scopesNeeded(scope).join(' and ')}): ${summary}`,
  );
  return [
    '# Sandbank',
    '',
    '> A sandbox-only payment API. No real money moves.',
    '',
    `The contract is OpenAPI 3.1: ${serverUrl}/openapi.json. Errors: ${serverUrl}/docs/errors. Lifecycles: ${serverUrl}/docs/states. Events: ${serverUrl}/docs/events. Failures on demand: ${serverUrl}/docs/scenarios.`,
    'Send `Authorization: Bearer sbk_sandbox_...` with every request, and a unique `Idempotency-Key` with every POST.',
    'Amounts are integers in minor units with an ISO 4217 currency code.',
    '',
    '## Operations',
    ...lines,
    '',
  ].join('\n');
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
    'Made from the catalogue in `src/kernel/errors.ts` by `npm run golden`.',
    '',
    '| code | status | what happened | how to mend it | retry helps |',
    '|---|---|---|---|---|',
    ...rows,
    '',
  ].join('\n');
}
