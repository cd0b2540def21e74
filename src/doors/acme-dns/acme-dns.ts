import { type DoorDescription, TOKEN } from '../kit/door.js';

export const acmeDns: DoorDescription = {
  key: 'acme-dns',
  path: '/doors/acme-dns',
  auth: 'X-Api-User and X-Api-Key of a registration; to register, a token of scope acme as Bearer, or as the password of HTTP Basic',
  tools: (url) => [
    {
      name: 'curl (register)',
      snippet: `curl -fsS -u "zoneward:${TOKEN}" ${url}/register \\
  -H 'Content-Type: application/json' -d '{"fulldomain": "_acme-challenge.www.example.com"}'`,
    },
    {
      name: 'acme.sh',
      snippet: `# username, password and subdomain of the answer of /register
ACMEDNS_BASE_URL=${url} ACMEDNS_USERNAME=… ACMEDNS_PASSWORD=… ACMEDNS_SUBDOMAIN=… \\
  acme.sh --issue --dns dns_acmedns -d www.example.com`,
    },
    {
      name: 'lego',
      snippet: `# acme-dns.json: {"www.example.com": …}, the answer of /register, with "server_url": "${url}" beside it
ACME_DNS_API_BASE=${url} ACME_DNS_STORAGE_PATH=acme-dns.json \\
  lego --email you@example.com --dns acme-dns --domains www.example.com run`,
    },
    {
      name: 'cert-manager',
      snippet: `# the secret's acmedns.json: {"www.example.com": …}, the answer of /register
solvers:
  - dns01:
      acmeDNS:
        host: ${url}
        accountSecretRef: {name: acme-dns, key: acmedns.json}`,
    },
    {
      name: 'Caddy',
      snippet: `# with the module github.com/caddy-dns/acmedns
tls {
  dns acmedns {
    server_url ${url}
    username …
    password …
    subdomain …
  }
}`,
    },
  ],
};
