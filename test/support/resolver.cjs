// Resolves the tests' imports: `src` is the output of `nest build`, and a `.js` beside a test, or in
// the console, is its `.ts`.
const { join, sep } = require('node:path');

const ROOT = join(__dirname, '../..');

module.exports = (path, options) => {
  const isOurs = ['test', 'web/src'].some((folder) => options.basedir.startsWith(join(ROOT, folder) + sep));
  if (!path.startsWith('.') || !isOurs) return options.defaultResolver(path, options);
  const file = join(options.basedir, path);
  if (file.startsWith(join(ROOT, 'src') + sep) || file === join(ROOT, 'ormconfig.js'))
    return file.replace(ROOT, join(ROOT, 'dist'));
  return options.defaultResolver(path.replace(/\.js$/, '.ts'), options);
};
