import type { FrontDoor } from '../../access/doors.js';
import type { Config } from '../../platform/config/config.js';

/** The configuration of a tool for a door. */
export interface Snippet {
  name: string;
  snippet: string;
}

/** What `GET /api/doors` says of a door. */
export interface DoorDescription {
  key: FrontDoor;
  /** below the public address of the service */
  path: string;
  /** where it has a port of its own, at the host of that address; the environment sets it, null: it has none */
  listener?: { scheme: string; port: (config: Config) => number | null; usual: number };
  /** in words: how a caller is authenticated */
  auth: string;
  /** @param url of the door */
  tools: (url: string) => Snippet[];
}

/** Where snippets expect the token: nobody is shown one twice. */
export const TOKEN = '$ZONEWARD_TOKEN';
