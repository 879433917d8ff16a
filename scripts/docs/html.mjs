/** @param {string} text */
export function escapeHtml(text) {
  return text.replace(/[&<>"']/g, (sign) => `&#${sign.charCodeAt(0)};`);
}

/** The link that a heading or an entry has to itself. @param {string} id @param {string} title */
export function anchorOf(id, title) {
  return `<a class="anchor" href="#${escapeHtml(id)}" aria-label="${escapeHtml(`Link to ${title}`)}">#</a>`;
}

/** Text with code in back-ticks, as in the error catalogue. @param {string} text */
export function withCode(text) {
  return escapeHtml(text).replace(/`([^`]+)`/g, '<code>$1</code>');
}

/** The id of a heading, computed as on GitHub, so that links in the repository and on the site lead to the same heading. @param {string} text */
export function slugOf(text) {
  return text
    .toLowerCase()
    .replace(/[^\p{L}\p{N}\s_-]/gu, '')
    .trim()
    .replace(/\s/g, '-');
}
