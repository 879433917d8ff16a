// Runs before the page is drawn, so that it never shows in the wrong theme. The choice is the console's, too.
(() => {
  const key = 'sandbank.theme';
  const choices = ['system', 'light', 'dark'];
  const read = () => {
    try {
      const saved = localStorage.getItem(key);
      return choices.includes(saved) ? saved : 'system';
    } catch {
      return 'system';
    }
  };
  let choice = read();
  const prefersDark = matchMedia('(prefers-color-scheme: dark)');
  const isDark = () => choice === 'dark' || (choice === 'system' && prefersDark.matches);
  const apply = () => {
    document.documentElement.dataset.theme = isDark() ? 'dark' : 'light';
    document.dispatchEvent(new CustomEvent('sandbank-theme', { detail: { isDark: isDark() } }));
  };
  apply();
  prefersDark.addEventListener('change', apply);

  document.addEventListener('DOMContentLoaded', () => {
    const button = document.querySelector('button.theme');
    if (!button) return;
    const name = () => {
      button.textContent = { system: 'Auto', light: 'Light', dark: 'Dark' }[choice];
      button.setAttribute('aria-label', `Theme: ${button.textContent}`);
      button.title = 'Change the theme';
    };
    button.addEventListener('click', () => {
      choice = choices[(choices.indexOf(choice) + 1) % choices.length];
      try {
        localStorage.setItem(key, choice);
      } catch {
        // A browser that keeps nothing still gets the theme for this visit.
      }
      apply();
      name();
    });
    name();
    button.hidden = false;
  });
})();
