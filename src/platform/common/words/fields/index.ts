import { BODY_WORDS, RULE_WORDS } from './body.js';
import { DNS_WORDS } from './dns.js';
import { DOCUMENT_WORDS } from './documents.js';
import { PEOPLE_WORDS } from './people.js';
import { RECORD_WORDS } from './records.js';
import { DATABASE_WORDS, SETTINGS_WORDS } from './settings.js';
import { TUNNEL_WORDS } from './tunnels.js';

/** The parts of the catalogue; no sentence stands in two of them. */
export const FIELD_WORD_PARTS = [
  RULE_WORDS,
  BODY_WORDS,
  DNS_WORDS,
  DOCUMENT_WORDS,
  RECORD_WORDS,
  PEOPLE_WORDS,
  SETTINGS_WORDS,
  DATABASE_WORDS,
  TUNNEL_WORDS,
] as const;

/** Every message of a wrong field: its English text, and the Chinese one. `{name}` stands for what is filled in. */
export const FIELD_WORDS = {
  ...RULE_WORDS,
  ...BODY_WORDS,
  ...DNS_WORDS,
  ...DOCUMENT_WORDS,
  ...RECORD_WORDS,
  ...PEOPLE_WORDS,
  ...SETTINGS_WORDS,
  ...DATABASE_WORDS,
  ...TUNNEL_WORDS,
};
