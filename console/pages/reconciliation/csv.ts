import { ApiProblem, apiUrl, problemFrom, type Scope } from '../../client/request.ts';

const pagesMax = 200;
const timeoutMs = 60_000;

/** Downloads all pages of a day's report as one text, with a single header line. */
export async function readReport(
  date: string,
  scope: Scope,
  onLines: (lines: number) => void,
): Promise<string> {
  const parts: string[] = [];
  let cursor: string | null = null;
  let lines = 0;
  for (let page = 0; page < pagesMax; page += 1) {
    const url = apiUrl(`app/developer_api_settlements/${date}`, scope, { cursor });
    const response: Response = await fetch(url, {
      credentials: 'same-origin',
      headers: { Accept: 'text/csv' },
      signal: AbortSignal.timeout(timeoutMs),
    });
    if (!response.ok) throw await problemFrom(response);
    const text = await response.text();
    const part = page === 0 ? text : text.slice(text.indexOf('\n') + 1);
    parts.push(part);
    lines += part.split('\n').length - (page === 0 ? 2 : 1);
    onLines(lines);
    cursor = response.headers.get('Next-Cursor');
    if (cursor === null) return parts.join('');
  }
  throw new ApiProblem({
    status: 0,
    code: 'report_too_long',
    message: 'The report is too long for the browser. Read it page by page with the API.',
  });
}
