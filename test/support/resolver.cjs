// Resolves the tests' imports: `src` is the output of `nest build`, and a `.js` beside a test is its `.ts`.
const { join, sep } = require('node:path');

const ROOT = join(__dirname, '../..');

module.exports = (path, options) => {
  if (!path.startsWith('.') || !options.basedir.startsWith(join(ROOT, 'test') + sep))
    return options.defaultResolver(path, options);
  const file = join(options.basedir, path);
  if (file.startsWith(join(ROOT, 'src') + sep) || file === join(ROOT, 'ormconfig.js'))
    return file.replace(ROOT, join(ROOT, 'dist'));
  return options.defaultResolver(path.replace(/\.js$/, '.ts'), options);
};
