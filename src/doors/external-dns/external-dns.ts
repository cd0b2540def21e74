import { type DoorDescription, TOKEN } from '../kit/door.js';

/** The address with the token in it, which is the only way for ExternalDNS to send one. */
const withToken = (url: string): string => url.replace('://', `://zoneward:${TOKEN}@`);

export const externalDns: DoorDescription = {
  key: 'external-dns',
  path: '/doors/external-dns',
  auth: 'HTTP Basic with any user and a token of scope external-dns as the password, or that token as Bearer',
  tools: (url) => [
    {
      name: 'Helm',
      snippet: `# helm upgrade --install external-dns external-dns/external-dns --values values.yaml
env:
  - name: ZONEWARD_TOKEN
    valueFrom: {secretKeyRef: {name: zoneward, key: token}}
extraArgs:
  - --provider=webhook
  - --webhook-provider-url=${withToken(url).replace(TOKEN, '$(ZONEWARD_TOKEN)')}
  - --webhook-provider-read-timeout=30s
  - --webhook-provider-write-timeout=60s
policy: sync
registry: txt
txtOwnerId: my-cluster
# the secret: kubectl create secret generic zoneward --from-literal=token=${TOKEN}`,
    },
    {
      name: 'ExternalDNS',
      snippet: `external-dns --source=ingress --source=service --policy=sync --registry=txt --txt-owner-id=my-cluster \\
  --provider=webhook --webhook-provider-url="${withToken(url)}" \\
  --webhook-provider-read-timeout=30s --webhook-provider-write-timeout=60s`,
    },
    {
      name: 'curl',
      snippet: `curl -fsS -u "zoneward:${TOKEN}" ${url}/records -H 'Accept: application/external.dns.webhook+json;version=1'`,
    },
  ],
};
