import { Role } from '../access/access.js';
import { AUDIT_NOUNS } from '../access/audit-actions.js';
import { SCOPE_TABLE, SCOPES } from '../access/scopes.js';
import { THEMES } from '../auth/profile/profile.dto.js';
import { DOORS } from '../changes/history/change-set.entity.js';
import { DEFAULT_TTL, MAX_TTL, RECORD_TYPES } from '../dns/record.js';
import { TYPE_PARTS } from '../dns/value-parts.js';
import { GUARD_MEANINGS, GUARD_MODES } from '../domains/change-rules/change-rules.js';
import { PERMISSIONS } from '../domains/permission.dto.js';
import { sha256 } from '../platform/common/hash.js';
import { CODES, FIELD_CODES } from '../platform/common/words/codes.js';
import { NOTICE_EVENTS } from '../platform/events/events.js';
import { LANGUAGES } from '../settings/settings.dto.js';
import { TEAM_ROLES } from '../teams/team.dto.js';
import { PRESET_MEANINGS } from '../tokens/token.dto.js';
import type { MetaView } from './meta.dto.js';
import { STREAM_EVENTS } from './stream.dto.js';

const MAX_PRIORITY = 65_535;
const COMMON: ReadonlySet<string> = new Set(RECORD_TYPES);

const meanings = (of: Readonly<Record<string, string>>) =>
  Object.entries(of).map(([name, meaning]) => ({ name, meaning }));
const scopes = SCOPES.map((name) => ({ name, meaning: SCOPE_TABLE[name].meaning }));

/** What the API takes and answers, of the constants that the service itself uses. */
export const META: MetaView = {
  records: {
    ttl: { required: false, min: 0, max: MAX_TTL, default: DEFAULT_TTL },
    types: TYPE_PARTS.map(({ type, example, parts, defaultPriority }) => ({
      type,
      common: COMMON.has(type),
      value: { example, parts: parts.map((part) => ({ ...part, values: part.values && [...part.values] })) },
      priority:
        defaultPriority === null ? null : { required: false, min: 0, max: MAX_PRIORITY, default: defaultPriority },
    })),
  },
  scopes,
  presets: meanings(PRESET_MEANINGS),
  notice_events: [...NOTICE_EVENTS],
  stream_events: [...STREAM_EVENTS],
  doors: [...DOORS],
  languages: [...LANGUAGES],
  themes: [...THEMES],
  permissions: [...PERMISSIONS],
  guards: meanings(GUARD_MEANINGS),
  guard_modes: [...GUARD_MODES],
  roles: [Role.User, Role.Admin, Role.Super].map((role) => ({ role, name: Role[role].toLowerCase() })),
  team_roles: [...TEAM_ROLES],
  audit_nouns: [...AUDIT_NOUNS],
  codes: Object.entries(CODES).map(([name, { code, status, meaning }]) => ({ code, status, name, meaning })),
  field_codes: meanings(FIELD_CODES),
};

/** Of the answer as it is in this version. Weak: it comes compressed or not. */
export const META_TAG = `W/"${sha256(JSON.stringify(META)).slice(0, 16)}"`;
