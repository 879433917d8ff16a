// The API reference, from this server alone: no proxy, no fonts, no account, no assistant of somebody else's.
(() => {
  const isDark = () => document.documentElement.dataset.theme === 'dark';
  const settings = () => ({
    url: '/openapi.json',
    darkMode: isDark(),
    forceDarkModeState: isDark() ? 'dark' : 'light',
    hideDarkModeToggle: true,
    withDefaultFonts: false,
    telemetry: false,
    proxyUrl: '',
    hideClientButton: true,
    showDeveloperTools: 'never',
    agent: { disabled: true },
    mcp: { disabled: true },
    theme: 'default',
    persistAuth: false,
    documentDownloadType: 'json',
    defaultHttpClient: { targetKey: 'shell', clientKey: 'curl' },
  });
  const { createApiReference } = window.Scalar;
  const reference = createApiReference('#reference', settings());
  document.addEventListener('sandbank-theme', () => reference.updateConfiguration?.(settings()));
})();
