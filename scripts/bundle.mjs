// Bundles the compiled service into dist/bundle.cjs, which dist/zoneward.cjs runs, and the worker thread that rates
// passwords into dist/password-rater.js. Lists the bundled packages in dist/packages.json, and stores the code cache of
// this version of Node.
// Run after `nest build`, in the root of the repository.
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { rolldown } from 'rolldown';
import { bundledPackages } from './licenses.mjs';

/** Packages that stay outside of the bundle: native modules, and files that are served unchanged. */
const EXTERNAL = ['bcrypt', '@photostructure/sqlite', 'msgpackr-extract', 'swagger-ui-dist/absolute-path.js'];

/** Packages that Nest and TypeORM load only if they are installed; this service never installs them. */
const NOT_INSTALLED = /^(@nestjs\/(microservices|websockets)|@fastify\/static)(\/|$)/;

const DRIVERS = [
  ...['aurora-mysql/AuroraMysql', 'aurora-postgres/AuroraPostgres', 'capacitor/Capacitor', 'cockroachdb/Cockroach'],
  ...['cordova/Cordova', 'expo/Expo', 'mongodb/Mongo', 'nativescript/Nativescript', 'oracle/Oracle'],
  ...['react-native/ReactNative', 'sap/Sap', 'spanner/Spanner', 'sqljs/Sqljs', 'sqlserver/SqlServer'],
];

/** Modules that packages load but this service never calls; the bundle has an empty module in their place. */
const LEFT_OUT = [
  ...DRIVERS.map((driver) => `typeorm/driver/${driver}Driver.js`),
  // telephone numbers of class-validator, and file uploads of @nestjs/platform-express
  'libphonenumber-js/max/index.cjs',
  'multer/lib/make-middleware.js',
];
const EMPTY = '\0empty';

const leaveOut = {
  name: 'leave-out',
  resolveId: {
    order: 'pre',
    async handler(source, importer, options) {
      const resolved = await this.resolve(source, importer, { ...options, skipSelf: true });
      return resolved && LEFT_OUT.some((file) => resolved.id.endsWith(`/node_modules/${file}`)) ? EMPTY : resolved;
    },
  },
  load: (id) => (id === EMPTY ? { code: 'module.exports = {};', moduleType: 'js' } : null),
};

/**
 * Lets the bundler see what modules load through `createRequire(import.meta.url)`: otherwise Node would load a second
 * copy of class-validator, class-transformer and TypeORM from node_modules at run time.
 */
const bundleRequires = {
  name: 'bundle-requires',
  transform: {
    filter: { code: 'createRequire(import.meta.url)' },
    handler: (code) =>
      code
        .replace(/^const require = createRequire\(import\.meta\.url\);$/m, '')
        .replaceAll(/(?<!=> )createRequire\(import\.meta\.url\)\(/g, 'require('),
  },
};

/**
 * Lets the bundler see the database drivers that TypeORM loads by a name in a variable: otherwise Node would load them
 * from node_modules at run time, and a release has none of them there.
 */
const bundleDrivers = {
  name: 'bundle-drivers',
  transform: {
    filter: { id: /\/typeorm\/platform\/PlatformTools\.js$/ },
    handler(code) {
      const byName = 'return require(name);';
      if (!code.includes(byName)) throw new Error(`TypeORM loads its drivers in another way: no "${byName}"`);
      const drivers = ['mysql2', 'pg'].map((driver) => `if (name === '${driver}') return require('${driver}');`);
      return code.replace(byName, `${drivers.join(' ')} ${byName}`);
    },
  },
};

/** Writes one bundle. @returns folders of the packages that are in it */
async function bundle(input, file, format) {
  const build = await rolldown({
    input,
    platform: 'node',
    external: (id) => EXTERNAL.includes(id) || NOT_INSTALLED.test(id),
    plugins: [leaveOut, bundleRequires, bundleDrivers],
    onLog(level, log) {
      // dependencies contain eval and circular imports that nothing can be done about
      if (level === 'warn' && log.code === 'UNRESOLVED_IMPORT') throw new Error(log.message);
    },
  });
  // the names of classes are in the description of the API; ASCII takes half of the memory of other text
  const compact = { charset: 'ascii', comments: false };
  const whole = { file, format, codeSplitting: false, dynamicImportInCjs: false, keepNames: true };
  const { output } = await build.write({ ...whole, ...compact });
  await build.close();
  return bundledPackages(output);
}

const packages = [
  ...(await bundle('dist/src/entry.js', 'dist/bundle.cjs', 'cjs')),
  ...(await bundle('dist/src/users/password-rater.js', 'dist/password-rater.js', 'es')),
];
writeFileSync('dist/packages.json', JSON.stringify([...new Set(packages)].sort()));
const checksum = createHash('sha256').update(readFileSync('dist/bundle.cjs')).digest('hex').slice(0, 12);
const loader = readFileSync('dist/src/zoneward.cjs', 'utf8');
writeFileSync('dist/zoneward.cjs', loader.replace('__CHECKSUM__', checksum));
const { status } = spawnSync(process.execPath, ['dist/zoneward.cjs', '--write-code-cache'], { stdio: 'inherit' });
process.exitCode = status ?? 1;
