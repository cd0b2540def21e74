import { Inject, Injectable } from '@nestjs/common';
import { FRONT_DOORS, type FrontDoor } from '../access/doors.js';
import type { Config } from '../platform/config/config.js';
import { CONFIG } from '../platform/config/config.module.js';
import { SettingsService } from '../settings/settings.service.js';
import { acmeDns } from './acme-dns/acme-dns.js';
import type { DoorView } from './doors.dto.js';
import { dyndns2 } from './dyndns2/dyndns2.js';
import { externalDns } from './external-dns/external-dns.js';
import { httpreq } from './httpreq/httpreq.js';
import type { DoorDescription } from './kit/door.js';
import { certd, ddnsGo } from './panel/panel.js';
import { powerdns } from './powerdns/powerdns.js';
import { rfc2136 } from './rfc2136/rfc2136.js';
import { webhook } from './webhook/webhook.js';

const DESCRIPTIONS: { [K in FrontDoor]: DoorDescription } = {
  httpreq,
  'acme-dns': acmeDns,
  dyndns2,
  'external-dns': externalDns,
  'ddns-go': ddnsGo,
  certd,
  rfc2136,
  webhook,
  powerdns,
};

@Injectable()
export class DoorsService {
  constructor(
    private readonly settings: SettingsService,
    @Inject(CONFIG) private readonly config: Config,
  ) {}

  async list(): Promise<DoorView[]> {
    const [open, base] = await Promise.all([this.settings.read('doors'), this.settings.publicUrl()]);
    return Object.values(DESCRIPTIONS).map(({ key, path, listener, auth, tools }) => {
      const port = listener?.port(this.config);
      const host = new URL(base).hostname;
      const url = listener ? `${listener.scheme}://${host}:${port ?? listener.usual}` : base + path;
      return {
        key,
        enabled: open[key].enabled && port !== null,
        url,
        scope: FRONT_DOORS[key].scope,
        auth,
        tools: tools(url),
      };
    });
  }
}
