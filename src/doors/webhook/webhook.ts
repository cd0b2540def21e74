import { type DoorDescription, TOKEN } from '../kit/door.js';

const SIGNED = `BODY='{"value": "192.0.2.7"}'
SIGNATURE=$(printf %s "$BODY" | openssl dgst -sha256 -hmac "$HOOK_SECRET" | sed 's/^.* //')`;

export const webhook: DoorDescription = {
  key: 'webhook',
  path: '/doors/hook',
  auth: 'X-Hub-Signature-256: HMAC-SHA256 of the body with the secret of a hook of a token of scope webhook',
  tools: (url) => [
    {
      name: 'curl',
      snippet: `# HOOK and HOOK_SECRET: id and secret of the answer of POST /api/tokens/:id/hooks; that token is ${TOKEN}'s
${SIGNED}
curl -fsS ${url}/$HOOK -H 'Content-Type: application/json' -H "X-Delivery: $(uuidgen)" \\
  -H "X-Hub-Signature-256: sha256=$SIGNATURE" -d "$BODY"`,
    },
    {
      name: 'GitHub Actions',
      snippet: `# secrets of the repository: HOOK and HOOK_SECRET
- name: Point the name at the new address
  env:
    HOOK: \${{ secrets.HOOK }}
    HOOK_SECRET: \${{ secrets.HOOK_SECRET }}
  run: |
    ${SIGNED.replace('\n', '\n    ')}
    curl -fsS ${url}/$HOOK -H 'Content-Type: application/json' -H "X-Delivery: $GITHUB_RUN_ID-$GITHUB_RUN_ATTEMPT" \\
      -H "X-Hub-Signature-256: sha256=$SIGNATURE" -d "$BODY"`,
    },
    {
      name: 'Node',
      snippet: `import { createHmac, randomUUID } from 'node:crypto';

const body = JSON.stringify({ values: ['192.0.2.7', '192.0.2.8'] });
const signature = createHmac('sha256', process.env.HOOK_SECRET).update(body).digest('hex');
const answer = await fetch(\`${url}/\${process.env.HOOK}\`, {
  method: 'POST',
  headers: {
    'Content-Type': 'application/json',
    'X-Delivery': randomUUID(),
    'X-Hub-Signature-256': \`sha256=\${signature}\`,
  },
  body,
});
if (!answer.ok) throw new Error(await answer.text());`,
    },
  ],
};
