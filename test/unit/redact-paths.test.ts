import { expect, test } from 'vitest';
import { consoleRoutes, routes } from '../../src/resources/index.ts';
import { redactLine } from '../../src/resources/requests/redact.ts';

const id = 'pay_01m7epxwjmf7za77rhky2f93cc';
const scope = 'org_01m7epxwjmf7za77rhky2f93cc/app_01m7epxwjmf7za77rhky2f93cc';
const paths = [...routes, ...consoleRoutes].map(({ path }) => path.replaceAll(/\{\w+\}/g, id));

test.each([...new Set(paths)])('the request log keeps the path %s', (path) => {
  for (const base of ['/_api/', `/console/api/${scope}/`]) {
    expect(redactLine(base + path, 1_000)).toBe(base + path);
  }
});
