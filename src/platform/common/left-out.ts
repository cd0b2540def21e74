// Modules that packages load by themselves and this service never calls, some MiB of the process at rest: whoever
// requires them is given an empty one. To be imported before everything else.
import { createRequire, Module } from 'node:module';

const DRIVERS = [
  ...['aurora-mysql/AuroraMysql', 'aurora-postgres/AuroraPostgres', 'capacitor/Capacitor', 'cockroachdb/Cockroach'],
  ...['cordova/Cordova', 'expo/Expo', 'mongodb/Mongo', 'nativescript/Nativescript', 'oracle/Oracle'],
  ...['react-native/ReactNative', 'sap/Sap', 'spanner/Spanner', 'sqljs/Sqljs', 'sqlserver/SqlServer'],
];
const LEFT_OUT = [
  ...DRIVERS.map((driver) => `typeorm/driver/${driver}Driver.js`),
  // what class-validator knows of telephone numbers, and how the Express of Nest takes uploads
  ...['libphonenumber-js/max', 'multer/lib/make-middleware.js'],
];

const require = createRequire(import.meta.url);
for (const name of LEFT_OUT) {
  const file = require.resolve(name);
  require.cache[file] = Object.assign(new Module(file), { loaded: true });
}
