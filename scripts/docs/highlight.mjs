import { createJavaScriptRegexEngine } from '@shikijs/engine-javascript';
import go from '@shikijs/langs/go';
import javascript from '@shikijs/langs/javascript';
import json from '@shikijs/langs/json';
import php from '@shikijs/langs/php';
import python from '@shikijs/langs/python';
import shellscript from '@shikijs/langs/shellscript';
import toml from '@shikijs/langs/toml';
import typescript from '@shikijs/langs/typescript';
import yaml from '@shikijs/langs/yaml';
import { codeToTokensBase, createShikiPrimitive } from '@shikijs/primitive';
import { escapeHtml } from './html.mjs';

/** CSS class by TextMate scope. The Content-Security-Policy allows no inline styles, so the theme's "colors" only encode the class. */
const scopesOfClass = {
  comment: ['comment', 'punctuation.definition.comment'],
  string: ['string', 'constant.character.escape', 'string.unquoted.heredoc'],
  keyword: [
    ...['keyword', 'storage', 'variable.language', 'constant.language'],
    ...['keyword.operator.new', 'keyword.operator.expression', 'keyword.operator.logical.python'],
  ],
  number: ['constant.numeric', 'constant.other.option'],
  function: ['entity.name.function', 'support.function', 'meta.function-call.generic'],
  type: ['entity.name.type', 'entity.name.class', 'support.type', 'support.class', 'entity.inherited-class'],
  plain: [
    ...['string.unquoted.argument', 'keyword.operator', 'storage.type.function.arrow'],
    ...['meta.template.expression', 'meta.interpolation', 'meta.fstring constant.character.format'],
  ],
};
const classes = Object.keys(scopesOfClass);
const colorOf = (/** @type {number} */ place) => `#${String(place + 1).padStart(6, '0')}`;
const theme = 'classes';

const shiki = createShikiPrimitive({
  engine: createJavaScriptRegexEngine(),
  langs: [go, javascript, json, php, python, shellscript, toml, typescript, yaml],
  themes: [
    {
      name: theme,
      type: 'light',
      fg: '#000000',
      bg: '#ffffff',
      settings: Object.values(scopesOfClass).map((scope, place) => ({
        scope,
        settings: { foreground: colorOf(place) },
      })),
    },
  ],
});
const languages = new Set(shiki.getLoadedLanguages());

/**
 * Code as HTML with one class for each kind of token.
 * @param {string} text
 * @param {string} language
 */
export function highlight(text, language) {
  if (language === '') return escapeHtml(text);
  if (!languages.has(language)) throw new Error(`scripts/docs/highlight.mjs does not load "${language}".`);
  // Without a time limit: on a busy machine the default one cuts lines short, and the build would differ from run to run.
  return codeToTokensBase(shiki, text, { lang: language, theme, tokenizeTimeLimit: 0 })
    .map((line) => mergeTokens(line).map(toHtml).join(''))
    .join('\n');
}

/**
 * Adjacent tokens of one class become one. The server replaces its own address in the pages, so no tag may split an address.
 * @param {readonly { content: string, color?: string }[]} line
 */
function mergeTokens(line) {
  /** @type {{ name: string, content: string }[]} */
  const merged = [];
  for (const { content, color } of line) {
    const name = classes.find((_name, place) => colorOf(place) === color) ?? 'plain';
    const last = merged.at(-1);
    if (last && (last.name === name || content.trim() === '')) last.content += content;
    else merged.push({ name, content });
  }
  return merged;
}

/** @param {{ name: string, content: string }} token */
function toHtml({ name, content }) {
  const html = escapeHtml(content);
  return name === 'plain' ? html : `<span class="${name}">${html}</span>`;
}
