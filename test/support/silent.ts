import { createLogger } from '../../src/platform/common/logger.js';

export const SILENT = createLogger('silent');
