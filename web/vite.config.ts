import { tanstackRouter } from '@tanstack/router-plugin/vite';
import react from '@vitejs/plugin-react';
import { defineConfig } from 'vite';
// @ts-expect-error: plain JavaScript without types
import { bundledPackages } from '../scripts/licenses.mjs';

/** The service that `npm run dev` passes requests on to. */
const SERVICE = process.env.SERVICE ?? 'http://localhost:3000';

export default defineConfig(({ command }) => ({
  // relative, so that one build serves every path of BASE_URL: the service fills in `<base>`
  base: './',
  html: { cspNonce: '__NONCE__' },
  resolve: { alias: { '~': new URL('./src', import.meta.url).pathname } },
  plugins: [
    tanstackRouter(),
    react(),
    {
      name: 'list-packages',
      generateBundle(_options: unknown, output: object) {
        const source = JSON.stringify(bundledPackages(Object.values(output)));
        this.emitFile({ type: 'asset', fileName: '.vite/packages.json', source });
      },
    },
    // what the service does to the page where there is one
    command === 'serve' && {
      name: 'fill-in',
      transformIndexHtml: (html: string) => html.replaceAll('__BASE__', '/').replaceAll('__NONCE__', 'dev'),
    },
  ],
  build: { manifest: true, target: 'es2022', assetsInlineLimit: 0, reportCompressedSize: false },
  server: { proxy: { '/api': { target: SERVICE, changeOrigin: true }, '/health': SERVICE } },
}));
