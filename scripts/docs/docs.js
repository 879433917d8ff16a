// Copy buttons, the current section in the table of contents, and the search field. The pages are complete without scripts.
// A block and not a module: a classic script whose constants are not visible to the other scripts of the page.
{
  const copy = async (code) => {
    // Browsers expose the clipboard API only on secure pages, not over plain http from another machine.
    if (navigator.clipboard === undefined) {
      getSelection().selectAllChildren(code);
      return document.execCommand('copy');
    }
    return navigator.clipboard.writeText(code.textContent).then(
      () => true,
      () => false,
    );
  };

  const addCopyButton = (figure) => {
    const button = document.createElement('button');
    button.type = 'button';
    button.className = 'copy';
    button.textContent = 'Copy';
    button.addEventListener('click', async () => {
      button.textContent = (await copy(figure.querySelector('code'))) ? 'Copied' : 'Select and copy';
      setTimeout(() => {
        button.textContent = 'Copy';
      }, 2000);
    });
    figure.append(button);
  };

  const markCurrentSection = () => {
    const links = new Map(
      [...document.querySelectorAll('nav.contents a')].map((link) => [
        link.getAttribute('href').slice(1),
        link,
      ]),
    );
    const seen = new IntersectionObserver(
      (entries) => {
        const entry = entries.find(({ isIntersecting }) => isIntersecting);
        if (!entry) return;
        for (const [id, link] of links) {
          if (id === entry.target.id) link.setAttribute('aria-current', 'true');
          else link.removeAttribute('aria-current');
        }
      },
      { rootMargin: '-60px 0px -70% 0px' },
    );
    for (const id of links.keys()) {
      const heading = document.getElementById(id);
      if (heading) seen.observe(heading);
    }
  };

  const resultsMax = 12;
  /** @type {Promise<(query: string) => any[]> | undefined} */
  let searching;

  /** Loads the index once. A failed load is tried again with the next key press. */
  const loadIndex = () => {
    const { searchScript, searchIndex } = document.body.dataset;
    searching ??= import(searchScript)
      .then(({ openIndex }) => openIndex(searchIndex))
      .catch((error) => {
        searching = undefined;
        throw error;
      });
    return searching;
  };

  const element = (name, className, text) => {
    const node = document.createElement(name);
    node.className = className;
    node.textContent = text;
    return node;
  };

  const resultItem = ({ id, kind, page, title, excerpt }) => {
    const link = document.createElement('a');
    link.href = id;
    const heading = element('strong', '', title === page || kind !== '' ? title : `${page}: ${title}`);
    if (kind !== '') heading.append(' ', element('span', 'tag', kind));
    link.append(heading, element('span', 'excerpt', excerpt));
    const item = document.createElement('li');
    item.append(link);
    return item;
  };

  const resultCount = (count) => {
    if (count === 0) return 'No results.';
    if (count > resultsMax) return `First ${resultsMax} of ${count} results`;
    return count === 1 ? '1 result' : `${count} results`;
  };

  /** The search field, its results below, and the two ways to change those. */
  const searchBox = (box) => {
    const field = box.querySelector('input');
    const found = box.querySelector('.found');
    const list = found.querySelector('ul');
    const status = found.querySelector('.found-count');
    const close = () => {
      found.hidden = true;
    };
    const show = async () => {
      const query = field.value.trim();
      if (query === '') return close();
      const search = await loadIndex().catch(() => undefined);
      // A later key press has its own call.
      if (query !== field.value.trim()) return;
      const results = search?.(query) ?? [];
      list.replaceChildren(...results.slice(0, resultsMax).map(resultItem));
      status.textContent = search
        ? resultCount(results.length)
        : 'The search index could not be loaded. Try again.';
      found.hidden = false;
    };
    return { box, field, found, list, close, show };
  };

  /** The field searches while one types; a click or the focus elsewhere closes the results. */
  const searchOnInput = ({ box, field, close, show }) => {
    field.addEventListener('focus', () => loadIndex().catch(() => undefined));
    field.addEventListener('input', show);
    document.addEventListener('click', (event) => {
      if (!box.contains(event.target) || event.target.closest('.found a')) close();
    });
    box.addEventListener('focusout', (event) => {
      if (event.relatedTarget && !box.contains(event.relatedTarget)) close();
    });
  };

  /** `/` focuses the field; arrows, Enter and Escape work in the results. */
  const addSearchKeys = ({ box, field, found, list, close }) => {
    document.addEventListener('keydown', (event) => {
      const isTyping = /^(INPUT|TEXTAREA|SELECT)$/.test(document.activeElement?.tagName ?? '');
      if (event.key === '/' && !isTyping && !event.ctrlKey && !event.metaKey && !event.altKey) {
        event.preventDefault();
        field.focus();
      }
    });
    box.addEventListener('keydown', (event) => {
      const stops = [field, ...list.querySelectorAll('a')];
      const at = stops.indexOf(document.activeElement);
      if (event.key === 'Escape') {
        field.focus();
        close();
      } else if (event.key === 'ArrowDown' || event.key === 'ArrowUp') {
        if (found.hidden) return;
        event.preventDefault();
        stops[Math.min(stops.length - 1, Math.max(0, at + (event.key === 'ArrowDown' ? 1 : -1)))].focus();
      } else if (event.key === 'Enter' && document.activeElement === field) {
        list.querySelector('a')?.click();
      }
    });
  };

  for (const figure of document.querySelectorAll('figure.code')) addCopyButton(figure);
  markCurrentSection();
  const search = searchBox(document.querySelector('.search'));
  search.box.hidden = false;
  searchOnInput(search);
  addSearchKeys(search);
}
