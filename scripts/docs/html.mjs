/** @param {string} text */
export function escapeHtml(text) {
  return text.replace(/[&<>"']/g, (sign) => `&#${sign.charCodeAt(0)};`);
}

/** Text with `code` in back-ticks, as the catalogues write it. @param {string} text */
export function withCode(text) {
  return escapeHtml(text).replace(/`([^`]+)`/g, '<code>$1</code>');
}

/** The id of a heading, as GitHub makes it, so that links in the repository lead to the same place. @param {string} text */
export function slugOf(text) {
  return text
    .toLowerCase()
    .replace(/[^\p{L}\p{N}\s_-]/gu, '')
    .trim()
    .replace(/\s/g, '-');
}
