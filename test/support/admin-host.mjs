// A process that runs several admin commands, each as on a command line, so that modules are loaded only once.
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

const ENTRY = pathToFileURL(join(import.meta.dirname, '../../dist/src/admin.js')).href;
let runs = 0;

process.on('message', async (args) => {
  const said = { out: '', err: '' };
  const into = (stream) => (text) => {
    said[stream] += text;
    return true;
  };
  process.stdout.write = into('out');
  process.stderr.write = into('err');
  process.argv.splice(2, Infinity, ...args);
  process.exitCode = 0;
  const { finished } = await import(`${ENTRY}?run=${runs++}`);
  await finished;
  process.send({ code: process.exitCode, ...said });
});
