import { httpnet } from '../../../src/providers/hostingde/declaration.js';
import type { ReplaySetup } from '../../support/recordings.js';
import { setup as hostingde } from '../hostingde/replay.js';

/** Recorded 2026. */
export const setup: ReplaySetup = { ...hostingde, definition: httpnet, recording: 'httpnet' };
