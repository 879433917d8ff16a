// What the pages can do besides being read: copy code, search, and show where one is. Without it they lack only that.
(() => {
  for (const figure of document.querySelectorAll('figure.code')) {
    const button = document.createElement('button');
    button.type = 'button';
    button.className = 'copy';
    button.textContent = 'Copy';
    button.addEventListener('click', async () => {
      const text = figure.querySelector('code')?.textContent ?? '';
      const isCopied = await navigator.clipboard.writeText(text).then(
        () => true,
        () => false,
      );
      button.textContent = isCopied ? 'Copied' : 'Select it and copy';
      setTimeout(() => {
        button.textContent = 'Copy';
      }, 2000);
    });
    figure.append(button);
  }

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

  const box = document.querySelector('.search');
  if (!box) return;
  const field = box.querySelector('input');
  const found = box.querySelector('.found');
  const list = found.querySelector('ul');
  const count = found.querySelector('.found-count');
  const shownMax = 12;
  let sections;
  box.hidden = false;

  const load = async () => {
    sections ??= fetch(document.body.dataset.search)
      .then((answer) => answer.json())
      .then((rows) =>
        rows.map(([address, page, title, text]) => ({ address, page, title, text, low: text.toLowerCase() })),
      );
    return sections.catch(() => {
      sections = undefined;
      return [];
    });
  };

  /** A word in a title weighs more than one in the text, the beginning of a word more than its middle; all must be there. */
  const rate = ({ page, title, low, address }, words) => {
    let sum = address.includes('#') ? 0 : 1;
    for (const word of words) {
      const inTitle = title.toLowerCase().indexOf(word);
      const inPage = page.toLowerCase().indexOf(word);
      const inText = low.indexOf(word);
      if (inTitle === -1 && inPage === -1 && inText === -1) return 0;
      if (inTitle === 0) sum += 12;
      else if (inTitle > 0) sum += 8;
      if (inPage !== -1) sum += 4;
      if (inText !== -1) sum += /\w/.test(low[inText - 1] ?? ' ') ? 1 : 2;
    }
    return sum;
  };

  const excerpt = ({ text, low }, [word]) => {
    const at = Math.max(0, low.indexOf(word) - 40);
    return `${at > 0 ? '…' : ''}${text.slice(at, at + 120)}${text.length > at + 120 ? '…' : ''}`;
  };

  const close = () => {
    found.hidden = true;
  };
  const show = async () => {
    const words = field.value.toLowerCase().split(/\s+/).filter(Boolean);
    if (words.length === 0) return close();
    const all = await load();
    if (words.join() !== field.value.toLowerCase().split(/\s+/).filter(Boolean).join()) return;
    const best = all
      .map((section) => ({ section, weight: rate(section, words) }))
      .filter(({ weight }) => weight > 0)
      .sort((a, b) => b.weight - a.weight);
    list.replaceChildren(
      ...best.slice(0, shownMax).map(({ section }) => {
        const link = document.createElement('a');
        link.href = section.address;
        const title = document.createElement('strong');
        title.textContent =
          section.title === section.page ? section.page : `${section.page}: ${section.title}`;
        const words_ = document.createElement('span');
        words_.textContent = excerpt(section, words);
        link.append(title, words_);
        const item = document.createElement('li');
        item.append(link);
        return item;
      }),
    );
    count.textContent =
      best.length === 0
        ? 'Nothing was found.'
        : best.length > shownMax
          ? `The first ${shownMax} of ${best.length} places`
          : `${best.length} ${best.length === 1 ? 'place' : 'places'}`;
    found.hidden = false;
  };

  field.addEventListener('focus', load);
  field.addEventListener('input', show);
  document.addEventListener('click', (event) => {
    if (!box.contains(event.target)) close();
    else if (event.target.closest('.found a')) close();
  });
  box.addEventListener('focusout', (event) => {
    if (event.relatedTarget && !box.contains(event.relatedTarget)) close();
  });
  document.addEventListener('keydown', (event) => {
    const isTyping = /^(INPUT|TEXTAREA|SELECT)$/.test(document.activeElement?.tagName ?? '');
    if (event.key === '/' && !isTyping && !event.ctrlKey && !event.metaKey && !event.altKey) {
      event.preventDefault();
      field.focus();
    }
  });
  box.addEventListener('keydown', (event) => {
    const places = [field, ...list.querySelectorAll('a')];
    const at = places.indexOf(document.activeElement);
    if (event.key === 'Escape') {
      field.focus();
      close();
    } else if (event.key === 'ArrowDown' || event.key === 'ArrowUp') {
      if (found.hidden) return;
      event.preventDefault();
      places[Math.min(places.length - 1, Math.max(0, at + (event.key === 'ArrowDown' ? 1 : -1)))].focus();
    } else if (event.key === 'Enter' && document.activeElement === field) {
      list.querySelector('a')?.click();
    }
  });
})();
