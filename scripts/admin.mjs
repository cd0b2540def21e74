// Runs a command of the administration of this checkout; builds first if needed.
//   node scripts/admin.mjs <command> [argument ...]
import './build-when-needed.mjs';

process.argv.splice(2, 0, 'admin');
await import('../dist/zoneward.cjs');
