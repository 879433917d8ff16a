import { fileURLToPath } from 'node:url';
import tailwind from '@tailwindcss/vite';
import react from '@vitejs/plugin-react';
import { defineConfig } from 'vite';

// Built by `vite build console --outDir ...`. Nothing inline: the page's content security policy allows scripts and
// styles of its own origin only. One stylesheet, so that no lazy page has to bring one.
export default defineConfig({
  root: fileURLToPath(new URL('.', import.meta.url)),
  base: '/console/',
  plugins: [react(), tailwind()],
  publicDir: false,
  build: {
    target: 'es2022',
    // `light-dark()` carries both themes in one token; an older target would write it out twice.
    cssTarget: ['chrome123', 'firefox120', 'safari17.5'],
    assetsInlineLimit: 0,
    cssCodeSplit: false,
    modulePreload: { polyfill: false },
    emptyOutDir: true,
    reportCompressedSize: true,
  },
  server: {
    proxy: {
      // The host stays the browser's: the server compares it with the origin.
      '/console/api': { target: process.env.SANDBANK_URL ?? 'http://127.0.0.1:4000', changeOrigin: false },
    },
  },
});
