// Checks what is written without running it: form and lint, types, imports; and builds what the tests run.
// Two checks run at a time; the output of a check is shown when it fails.
import { spawn, spawnSync } from 'node:child_process';

/** TypeScript 7 checks types in a third of the time; TypeScript 6 compiles, because the plugin of Swagger needs it. */
const TSC = ['node', 'node_modules/typescript-native/bin/tsc', '-p'];

const CHECKS = {
  build: ['node', 'scripts/build-when-needed.mjs', 'clients'],
  'form and lint': ['node_modules/.bin/biome', 'check'],
  'types of the service': [...TSC, '.'],
  'types of the tests': [...TSC, 'test'],
  'types of the console': [...TSC, 'web'],
  'types of the client library': [...TSC, 'packages/client'],
  'types of the command': [...TSC, 'packages/cli'],
  'imports between modules': [
    'node_modules/.bin/depcruise',
    '--config',
    '.dependency-cruiser.cjs',
    'src',
    'packages/client/src',
    'packages/cli/src',
  ],
};

function run([program, ...words]) {
  return new Promise((resolve) => {
    const child = spawn(program, words, { stdio: ['ignore', 'pipe', 'pipe'] });
    const output = [];
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => output.push(chunk));
    child.once('error', (error) => output.push(Buffer.from(`${error.message}\n`)));
    child.once('close', (code) => resolve({ code, text: Buffer.concat(output).toString() }));
  });
}

// generated sources, which several checks read
for (const folder of ['web', 'packages/client']) {
  const { status } = spawnSync('npm', ['run', '--silent', 'generate', '-w', folder], { stdio: 'inherit' });
  if (status !== 0) process.exit(1);
}

const waiting = Object.entries(CHECKS);
async function work() {
  for (let next = waiting.shift(); next; next = waiting.shift()) {
    const [name, command] = next;
    const begun = Date.now();
    const { code, text } = await run(command);
    process.stdout.write(
      `${code === 0 ? 'passed' : 'FAILED'}  ${name} (${Math.round((Date.now() - begun) / 1000)} s)\n`,
    );
    if (code === 0) continue;
    process.stdout.write(text);
    process.exitCode = 1;
  }
}
await Promise.all([work(), work()]);
