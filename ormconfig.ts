import { ENTITIES } from './src/entities.js';
import { readChoice } from './src/platform/config/choice-file.js';
import { parseConfig, readEnvironment } from './src/platform/config/config.js';
import { AppDataSource } from './src/platform/database/app-data-source.js';

/**
 * The DataSource for TypeORM's command line, from the same configuration as the service:
 * `npm run typeorm -- migration:show`
 */
const config = parseConfig(readEnvironment(process.cwd()));
const choice = config.database ?? readChoice(config.dataDir);
if (!choice) throw new Error('No database is chosen: set DATABASE_URL, or run the setup flow first');

const source = new AppDataSource(ENTITIES);
await source.prepare(choice);
export default source;
