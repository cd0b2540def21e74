// The comment of the pull request, which there is once: written by `show`, continued by `apply`, and read by `digest`
// and `ended`.
//   node comment.mjs show|apply <text       node comment.mjs digest|ended <zone>
import { readFileSync } from 'node:fs';

const { GITHUB_API_URL, GITHUB_REPOSITORY, GITHUB_TOKEN, PULL_REQUEST, COMMENT_AUTHOR } = process.env;
const MARK = '<!-- zoneward -->';
const RESULT = '\n## Merged\n\n';
/** characters; more GitHub refuses */
const LONGEST = 65_000;

async function ask(method, path, body) {
  const response = await fetch(`${GITHUB_API_URL}/repos/${GITHUB_REPOSITORY}/${path}`, {
    method,
    headers: { authorization: `Bearer ${GITHUB_TOKEN}`, accept: 'application/vnd.github+json' },
    ...(body ? { body: JSON.stringify(body) } : {}),
  });
  if (!response.ok) throw new Error(`GitHub answers ${response.status} to ${method} ${path}`);
  return response.json();
}

/** Ours: others may write the mark, too. */
async function find() {
  for (let page = 1; ; page++) {
    const list = await ask('GET', `issues/${PULL_REQUEST}/comments?per_page=100&page=${page}`);
    const ours = list.find(({ user, body }) => user?.login === COMMENT_AUTHOR && body?.startsWith(MARK));
    if (ours || list.length < 100) return ours;
  }
}

async function write(step) {
  const said = readFileSync(0, 'utf8');
  const ours = await find();
  const plans = ours?.body.split(RESULT)[0] ?? `${MARK}\n`;
  const head = step === 'show' ? `${MARK}\n## DNS\n\n${said}` : plans;
  const result = step === 'show' ? '' : (RESULT + said).slice(0, LONGEST / 2);
  const room = LONGEST - result.length;
  // the digests are at the end of the plans: one that is too long is not applied unseen
  const body =
    (head.length > room ? `${head.slice(0, room)}\n\n… too long for a comment: see the summary of the job` : head) +
    result;
  if (ours) await ask('PATCH', `issues/comments/${ours.id}`, { body });
  else await ask('POST', `issues/${PULL_REQUEST}/comments`, { body });
}

const [step, zone] = process.argv.slice(2);
try {
  if (step === 'ended') {
    const lines = (await find())?.body.split(RESULT)[1]?.split('\n') ?? [];
    const ends = ['applied', 'nothing to do'].map((end) => `- \`${zone}\`: ${end}`);
    console.log(lines.some((line) => ends.some((end) => line.startsWith(end))) ? 'yes' : 'no');
  } else if (step === 'digest') {
    const lines = (await find())?.body.split('\n') ?? [];
    const found = lines
      .map((line) => /^<!-- digest (\S+) ([0-9a-f]{64}) -->$/.exec(line))
      .find((one) => one?.[1] === zone);
    console.log(found?.[2] ?? 'none');
  } else await write(step);
} catch (error) {
  console.error(`::error::${error.message}`);
  process.exitCode = 1;
}
