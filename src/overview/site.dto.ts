import { ProfileView } from '../auth/profile/profile.dto.js';
import { type Language, PasswordPolicy } from '../settings/settings.dto.js';
import { UserView } from '../users/user.dto.js';

class SignInProvider {
  /** for `POST /api/auth/oauth/start` */
  key!: string;
  name!: string;
}

class SignInWays {
  password!: boolean;
  /** false while the public address is none that browsers know passkeys at */
  passkeys!: boolean;
  /** OAuth and OpenID Connect */
  oauth!: SignInProvider[];
}

export class SiteView {
  name!: string;
  language!: Language;
  background_image!: string | null;
  /** whether strangers may make an account: `POST /api/auth/register` */
  registration_enabled!: boolean;
  sign_in!: SignInWays;
}

/** What every user may know of the settings. */
class CommonSettings {
  site_name!: string;
  language!: Language;
  /** IANA name */
  timezone!: string;
  background_image!: string | null;
  registration_enabled!: boolean;
  /** seconds, of a record that names none */
  default_ttl!: number;
  /** of the caller's role */
  password_policy!: PasswordPolicy;
}

class ProvidersLink {
  /** where the kinds are listed */
  href!: string;
  /** the `ETag` that it has now: for `If-None-Match` */
  etag!: string;
}

class Counts {
  /** that the caller may read */
  domains!: number;
  /** null for users, who see no accounts */
  accounts!: number | null;
  /** API tokens of the caller's own */
  tokens!: number;
}

export class BootstrapView {
  me!: UserView;
  profile!: ProfileView;
  settings!: CommonSettings;
  providers!: ProvidersLink;
  counts!: Counts;
  /** when the JWT of this request has lived half of its life: time for `POST /api/auth/refresh` */
  renew_at!: string;
}
