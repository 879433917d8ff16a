// Runs before the first paint, so that the page never flashes in the wrong theme. The console uses the same setting.
(() => {
  // Lets the style sheet show one tab of each group before tabs.js runs.
  document.documentElement.dataset.scripted = '';
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
        // Without storage, the choice applies to this page only.
      }
      apply();
      name();
    });
    name();
    button.hidden = false;
  });
})();
