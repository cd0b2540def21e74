import { type DoorDescription, TOKEN } from '../kit/door.js';

export const httpreq: DoorDescription = {
  key: 'httpreq',
  path: '/doors/httpreq',
  auth: 'HTTP Basic with any user and a token of scope acme as the password, or that token as Bearer',
  tools: (url) => [
    {
      name: 'lego',
      snippet: `HTTPREQ_ENDPOINT=${url} HTTPREQ_USERNAME=zoneward HTTPREQ_PASSWORD=${TOKEN} \\
  lego --email you@example.com --dns httpreq --domains example.com --domains '*.example.com' run`,
    },
    {
      name: 'Traefik',
      snippet: `# environment: HTTPREQ_ENDPOINT=${url} HTTPREQ_USERNAME=zoneward HTTPREQ_PASSWORD=${TOKEN}
certificatesResolvers:
  zoneward:
    acme:
      email: you@example.com
      storage: acme.json
      dnsChallenge:
        provider: httpreq`,
    },
    {
      name: 'acme.sh',
      snippet: `ACMEPROXY_ENDPOINT=${url} ACMEPROXY_USERNAME=zoneward ACMEPROXY_PASSWORD=${TOKEN} \\
  acme.sh --issue --dns dns_acmeproxy -d example.com -d '*.example.com'`,
    },
    {
      name: 'Caddy',
      snippet: `# with the module github.com/caddy-dns/acmeproxy
tls {
  dns acmeproxy {
    endpoint ${url}
    username zoneward
    password {env.ZONEWARD_TOKEN}
  }
}`,
    },
    {
      name: 'certbot',
      snippet: `certbot certonly --manual --preferred-challenges dns -d example.com \\
  --manual-auth-hook 'curl --fail-with-body -sS -u "zoneward:${TOKEN}" ${url}/present -H "Content-Type: application/json" -d "{\\"fqdn\\":\\"_acme-challenge.$CERTBOT_DOMAIN.\\",\\"value\\":\\"$CERTBOT_VALIDATION\\"}"' \\
  --manual-cleanup-hook 'curl --fail-with-body -sS -u "zoneward:${TOKEN}" ${url}/cleanup -H "Content-Type: application/json" -d "{\\"fqdn\\":\\"_acme-challenge.$CERTBOT_DOMAIN.\\",\\"value\\":\\"$CERTBOT_VALIDATION\\"}"'`,
    },
    {
      name: 'dehydrated',
      snippet: `#!/bin/sh
# hook.sh, for: dehydrated --cron --challenge dns-01 --hook ./hook.sh --domain example.com
case $1 in deploy_challenge) what=present ;; clean_challenge) what=cleanup ;; *) exit 0 ;; esac
curl --fail-with-body -sS -u "zoneward:${TOKEN}" ${url}/$what -H 'Content-Type: application/json' \\
  -d "{\\"fqdn\\":\\"_acme-challenge.$2.\\",\\"value\\":\\"$4\\"}"`,
    },
  ],
};
