// Tabs for code blocks in several languages. Without scripts the blocks are shown one below the other.
(() => {
  const key = 'sandbank.docs.tab';
  const groups = [...document.querySelectorAll('.tabs')].map((root, number) => {
    const panels = [...root.querySelectorAll(':scope > .tab')];
    const list = document.createElement('div');
    list.className = 'tab-list';
    list.setAttribute('role', 'tablist');
    list.setAttribute('aria-label', 'Language');
    const buttons = panels.map((panel, place) => {
      const button = document.createElement('button');
      button.type = 'button';
      button.id = `tab-${number}-${place}`;
      button.textContent = panel.dataset.tab;
      button.setAttribute('role', 'tab');
      panel.id = `tab-panel-${number}-${place}`;
      panel.setAttribute('role', 'tabpanel');
      panel.setAttribute('aria-labelledby', button.id);
      button.setAttribute('aria-controls', panel.id);
      button.addEventListener('click', () => choose(panel.dataset.tab, button));
      return button;
    });
    list.addEventListener('keydown', (event) => {
      const at = buttons.indexOf(document.activeElement);
      const last = buttons.length - 1;
      const target = {
        ArrowRight: at === last ? 0 : at + 1,
        ArrowLeft: at === 0 ? last : at - 1,
        Home: 0,
        End: last,
      }[event.key];
      if (target === undefined) return;
      event.preventDefault();
      buttons[target].focus();
      buttons[target].click();
    });
    list.append(...buttons);
    root.prepend(list);
    return { panels, buttons };
  });

  /** Groups without this language keep their current tab. */
  function show(name) {
    for (const { panels, buttons } of groups) {
      const chosen = panels.findIndex(({ dataset }) => dataset.tab === name);
      if (chosen === -1) continue;
      panels.forEach((panel, place) => {
        panel.hidden = place !== chosen;
        buttons[place].setAttribute('aria-selected', String(place === chosen));
        buttons[place].tabIndex = place === chosen ? 0 : -1;
      });
    }
  }

  /** Other groups on the page change their height, so scroll to leave the pressed tab at its position in the window. */
  function choose(name, button) {
    const before = button.getBoundingClientRect().top;
    show(name);
    window.scrollBy(0, button.getBoundingClientRect().top - before);
    try {
      localStorage.setItem(key, name);
    } catch {
      // Without storage, the choice applies to this page only.
    }
  }

  for (const { panels } of groups) show(panels[0].dataset.tab);
  try {
    show(localStorage.getItem(key));
  } catch {
    // Without storage, the first tab is shown.
  }
})();
