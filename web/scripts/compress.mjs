// Writes the files of dist/ a second and a third time, compressed, so that the service needs no time for it. Run in web/.
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';

const SMALL = 1024;
const files = readdirSync('dist', { recursive: true, withFileTypes: true })
  .filter((entry) => entry.isFile() && /\.(js|css|svg|json)$/.test(entry.name))
  .map(({ parentPath, name }) => `${parentPath}/${name}`);
const brotli = (bytes) => promisify(brotliCompress)(bytes, { params: { [constants.BROTLI_PARAM_QUALITY]: 10 } });

await Promise.all(
  files.map(async (file) => {
    const bytes = readFileSync(file);
    if (bytes.length < SMALL) return;
    writeFileSync(`${file}.br`, await brotli(bytes));
    writeFileSync(`${file}.gz`, await promisify(gzip)(bytes, { level: 9 }));
  }),
);
