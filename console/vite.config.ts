import { fileURLToPath } from 'node:url';
import tailwind from '@tailwindcss/vite';
import react from '@vitejs/plugin-react';
import { defineConfig } from 'vite';

// Built by `vite build console --outDir ...`. Nothing inline: the page's content security policy allows only scripts and
// styles from the same origin. One stylesheet, so that lazy pages do not load their own.
export default defineConfig({
  root: fileURLToPath(new URL('.', import.meta.url)),
  base: '/console/',
  plugins: [react(), tailwind()],
  publicDir: false,
  build: {
    target: 'es2022',
    // `light-dark()` holds both themes in one token; an older target would duplicate it.
    cssTarget: ['chrome123', 'firefox120', 'safari17.5'],
    assetsInlineLimit: 0,
    cssCodeSplit: false,
    modulePreload: { polyfill: false },
    emptyOutDir: true,
    reportCompressedSize: true,
    rolldownOptions: {
      output: {
        codeSplitting: {
          // What most pages use is one file. With a file for each icon and part, the first page had 57 files and 306 kB instead of 15 and
          // 271 kB, because each has 600 bytes of headers.
          groups: [
            { name: 'shared', test: /lucide-react|console[\\/](parts|client)[\\/]/, minShareCount: 8 },
          ],
        },
      },
    },
  },
  server: {
    proxy: {
      // Keep the browser's Host header: the server compares it with the origin.
      '/console/api': { target: process.env.SANDBANK_URL ?? 'http://127.0.0.1:4000', changeOrigin: false },
    },
  },
});
