// The API reference. It loads everything from this server: no proxy, fonts, account or assistant of a third party.
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
    // The search links to operations by these ids.
    generateOperationSlug: ({ operationId }) => operationId,
    defaultHttpClient: { targetKey: 'shell', clientKey: 'curl' },
  });
  const { createApiReference } = window.Scalar;
  const reference = createApiReference('#reference', settings());
  document.addEventListener('sandbank-theme', () => reference.updateConfiguration?.(settings()));
})();
